// Structured output: answers to the client satisfy its schema, and every answer from a provider is paid.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { schemaInstance } from '../../infra/local/simulator/schema-instance.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedGateway } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};
const good = '{ "degrees":1.50,\n"city":"K\\u00f6ln" }';
const bad = '{"city":"Bonn"}';
const format = (wantedSchema: unknown = schema) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema: wantedSchema } },
});

interface Choice {
  readonly message: Record<string, unknown>;
  readonly finish_reason: string;
}
interface Answer {
  readonly choices: readonly Choice[];
  readonly usage: Record<string, unknown>;
}
const contentsOf = ({ choices }: Answer) => choices.map(({ message }) => message.content);

describe('a structured output', () => {
  let gateway: Harness;

  beforeAll(async () => {
    const upstreams = [
      'echo',
      'fenced-json',
      'invalid-json',
      'invalid-json:mismatch',
      'invalid-json-once',
      'truncated-json',
      'refusal',
      'tools',
    ];
    gateway = await startHarness({
      models: {
        ...Object.fromEntries(upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]])),
        'acme/limited': [
          { provider: 'acme', upstream: 'invalid-json-once:limited', more: { rate_limit_rpm: 1 } },
          { provider: 'bolt', upstream: 'echo', more: { output_price_per_million: '9' } },
        ],
      },
      service: { queue_ms: 0 },
      workspace: {
        presets: [{ slug: 'bad', versions: [{ version: '1', config: format({ type: 'date' }) }], designated: '1' }],
        features: { presets: true },
      },
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

  const post = (model: string, more: Record<string, unknown> = {}) =>
    gateway.post(hello(`acme/${model}`, { ...format(), ...more }));
  async function answerOf(model: string, more: Record<string, unknown> = {}): Promise<Answer> {
    const response = await post(model, more);
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    return JSON.parse(text) as Answer;
  }
  const credit = () => gateway.composition.credit.show({ workspace: 'team', spendLimit: null, shards: 1 });
  /** Returns the charge after the reservation has ended: a call is charged after its last byte. */
  async function spent(): Promise<bigint> {
    await eventually(async () => (await credit()).held === 0n);
    return (await credit()).spent;
  }

  it('that is valid costs one call, and the provider is sent the schema as it came', async () => {
    const answer = await answerOf('echo');
    expect(contentsOf(answer)).toEqual([JSON.stringify(schemaInstance(schema))]);
    expect(answer.usage).toMatchObject({ attempts: 1 });
    expect(gateway.simulator.calls.map(({ body }) => body)).toEqual([{ ...hello('echo'), ...format() }]);
  });

  it('that is invalid once is asked for again, and both answers are paid', async () => {
    const before = await spent();
    const answer = await answerOf('invalid-json-once');
    expect(answer.usage).toMatchObject({ attempts: 2 });
    expect(gateway.simulator.calls).toHaveLength(2);
    const [first, second] = gateway.simulator.calls.map(({ bodyText }) => bodyText);
    expect(second).toBe(first);
    // The numbers of tokens are those of the last answer; the cost is that of both answers.
    const { prompt_tokens: prompt, completion_tokens: completion, cost_usd: costUsd } = answer.usage;
    const last = Number(prompt) * 1 + Number(completion) * 2;
    const micros = Number(costUsd) * 1_000_000;
    expect(micros).toBeGreaterThan(last + 2 * 10);
    expect(answer.usage.cost).toBe(Number(costUsd));
    const owed = BigInt(Math.round(micros * 1_000_000));
    expect((await spent()) - before).toBe(owed);
  });

  it.each(['invalid-json', 'invalid-json:mismatch'])(
    'that stays invalid is schema_validation_failed after three calls, all of them paid: %s',
    async (model) => {
      const before = await spent();
      const response = await post(model);
      const { message } = await expectError(response, 422, 'schema_validation_failed', { detail: { attempts: 3 } });
      expect(message).not.toMatch(/Of course|not what was asked/);
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect(message).toMatch(/: the last one fails at \/.*: .+\.$/);
      expect(gateway.simulator.calls).toHaveLength(3);
      const paid = (await spent()) - before;
      // The same call is charged three times: a prompt of one token at 1 USD per million, and the output at 2.
      expect([paid > 3_000_000n, paid % 3n]).toEqual([true, 0n]);
    },
  );

  it('that is to be asked for again beyond a limit is sent to the next provider', async () => {
    const answer = await answerOf('limited');
    expect(answer.usage).toMatchObject({ provider: 'bolt', attempts: 2 });
    expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['acme', 'bolt']);
  });

  it.each([
    ['of a pattern that backtracks without end', format({ type: 'string', pattern: '^(a+)+$' })],
    ['in a stream', { stream: true, ...format({ type: 'date' }) }],
    ['that comes with a preset', { preset: 'bad', response_format: undefined }],
    ...[undefined, null, {}, { name: 'x' }, { schema: null }, [], 'schema'].map(
      (json_schema) =>
        [
          `that is none: ${JSON.stringify(json_schema)}`,
          { response_format: { type: 'json_schema', json_schema } },
        ] as const,
    ),
  ])(
    'whose schema is bad is refused, strangers before it is looked at, and no provider is called: %s',
    async (_what, more) => {
      const stranger = { authorization: `Bearer ${gateway.key.slice(0, -1)}` };
      const body = hello('acme/echo', { ...format(), ...more });
      await expectError(await gateway.post(body, stranger), 401, 'UNAUTHORIZED');
      const { message } = await expectError(await gateway.post(body), 400, 'invalid_response_schema');
      expect(message.length).toBeLessThan(500);
      expect(gateway.simulator.calls).toEqual([]);
    },
  );
});

describe('a structured output in another form', () => {
  let scriptedGateway: Awaited<ReturnType<typeof startScriptedGateway>>;
  let gateway: Harness;
  let provider: ScriptedProvider;
  let answers: string[];

  beforeAll(async () => {
    scriptedGateway = await startScriptedGateway((outgoing) => sendJson(outgoing, answers.shift() ?? completionOf()));
    ({ gateway, provider } = scriptedGateway);
  });
  afterAll(() => scriptedGateway.stop());

  async function answerTo(...replies: string[]): Promise<{ answer: Answer; calls: number }> {
    const before = provider.bodies.length;
    answers = replies;
    const response = await gateway.post(hello('acme/model', format()));
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    return { answer: JSON.parse(text) as Answer, calls: provider.bodies.length - before };
  }

  it.each([
    ['oddly written', good],
    ['with blanks around it', ` \n${good}\t\r\n`],
  ])('that is valid comes byte for byte: %s', async (_name, content) => {
    const { answer, calls } = await answerTo(completionOf({ content }));
    expect(contentsOf(answer)).toEqual([content]);
    expect(calls).toBe(1);
  });

  it.each<[string, unknown]>([
    [
      'parts',
      [
        { type: 'text', text: good.slice(0, 9) },
        { type: 'text', text: good.slice(9) },
      ],
    ],
    ['a fence', `\`\`\`json\n${good}\n\`\`\``],
    ['a fence without a language', `\`\`\`\n${good}\n\`\`\`\n`],
    ['a byte order mark', `\ufeff${good}`],
  ])('is healed of %s, the JSON in it byte for byte', async (_name, content) => {
    const { answer, calls } = await answerTo(completionOf({ content }));
    expect(contentsOf(answer)).toEqual([good]);
    expect(calls).toBe(1);
  });

  it('that fails says where and by which rule, in the message, in the record of each attempt, and never a value', async () => {
    const contents = [
      '{"city":"Bonn"}',
      '{"city":"Bonn","degrees":"warm"}',
      '{"city":"Bonn","degrees":1,"sky":"blue"}',
    ];
    answers = contents.map((content) => completionOf({ content }));
    const response = await gateway.post(hello('acme/model', format()));
    const error = await expectError(response, 422, 'schema_validation_failed', { detail: { attempts: 3 } });
    expect(error.message).toMatch(/ the last one fails at \/sky: additionalProperties\.$/);
    await gateway.settled();
    const found = await gateway.get(`/generation?id=${error.correlation_id}`);
    const { data } = (await found.json()) as { data: { attempts: { schema_mismatch?: string }[] } };
    expect(data.attempts.map(({ schema_mismatch: mismatch }) => mismatch)).toEqual([
      '/degrees: required',
      '/degrees: type',
      '/sky: additionalProperties',
    ]);
    expect(JSON.stringify(data)).not.toMatch(/Bonn|warm|blue/);
  });

  it('that cannot be checked within its bound is charged once and asked for nowhere again', async () => {
    const slow = { type: 'object', properties: { id: { pattern: '^id:x*x*x*x*x*x*x*x*x*x*$' } } };
    const content = JSON.stringify({ id: `id:${'x'.repeat(1_000)}!` });
    answers = [completionOf({ content }), completionOf({ content })];
    const { spent } = await gateway.credit();
    const response = await gateway.post(hello('acme/model', format(slow)));
    const error = await expectError(response, 422, 'schema_validation_failed', { detail: { attempts: 1 } });
    expect(error.message).toMatch(/could not be checked against the schema in time\.$/);
    await gateway.settled();
    expect(answers).toHaveLength(1);
    expect((await gateway.credit()).spent - spent).toBe(20_000_000n);
  });

  const toolCall = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  it.each([
    ['tool calls beside empty content', { content: '', tool_calls: [toolCall], finish_reason: 'tool_calls' }],
    ['tool calls beside prose', { content: 'Let me look.', tool_calls: [toolCall], finish_reason: 'tool_calls' }],
    ['an old function call', { content: null, function_call: toolCall.function, finish_reason: 'function_call' }],
    ['a refusal beside empty content', { content: '', refusal: 'I cannot.' }],
    ['a refusal without content', { refusal: 'I cannot.' }],
  ])('is not asked for again because of %s', async (_name, message) => {
    const { answer, calls } = await answerTo(completionOf(message));
    const { finish_reason: finishReason = 'stop', ...members } = message as Record<string, unknown>;
    expect(answer.choices).toEqual([
      { index: 0, message: { role: 'assistant', ...members }, finish_reason: finishReason },
    ]);
    expect(calls).toBe(1);
  });

  it.each([
    ['an empty refusal beside a bad answer', { content: bad, refusal: '' }],
    ['no tool call beside a bad answer', { content: bad, tool_calls: [] }],
    ['no content', { content: null }],
    ['bad content in parts', { content: [{ type: 'text', text: bad }] }],
    ['an empty answer', { content: '' }],
    ['text around the JSON', { content: `Here you are: ${good}` }],
  ])('is asked for again because of %s', async (_name, message) => {
    const { answer, calls } = await answerTo(completionOf(message), completionOf({ content: good }));
    expect(contentsOf(answer)).toEqual([good]);
    expect(answer.usage).toMatchObject({ attempts: 2, cost_usd: '0.00004', cost: 0.00004 });
    expect(calls).toBe(2);
  });

  it('is whole or nothing: one bad choice of several is asked for again with all of them', async () => {
    const { answer, calls } = await answerTo(
      completionOf({ content: good }, { content: bad }),
      completionOf({ content: good }, { content: good }),
    );
    expect(contentsOf(answer)).toEqual([good, good]);
    expect(calls).toBe(2);
  });

  it('keeps what else the provider says', async () => {
    const text = completionOf({ content: `\`\`\`json\n${good}\n\`\`\``, x_mood: 'calm', reasoning_content: 'hm' });
    const { answer } = await answerTo(text.replace('"created":1', '"created":1,"seed":12345678901234567890'));
    expect(answer.choices[0]?.message).toEqual({
      role: 'assistant',
      content: good,
      x_mood: 'calm',
      reasoning_content: 'hm',
    });
  });
});
