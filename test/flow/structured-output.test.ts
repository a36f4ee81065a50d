// Structured output: what reaches the client satisfies its schema, and every answer that was asked for is paid.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { schemaInstance } from '../../infra/local/simulator/schema-instance.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import {
  completionOf,
  type ScriptedProvider,
  sendJson,
  startScriptedGateway,
  startScriptedProvider,
} from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};
const good = '{ "degrees":1.50,\n"city":"K\\u00f6ln" }';
const bad = '{"city":"Bonn"}';
const format = (wanted: unknown = schema) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema: wanted } },
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
  /** What the workspace has paid once nothing is held any more: a call is settled after its last byte. */
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
    // The numbers of tokens are those of the last answer, the cost is that of both.
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
      // Three times the same: a prompt of one token at 1 USD per million, and what was written at 2.
      expect([paid > 3_000_000n, paid % 3n]).toEqual([true, 0n]);
    },
  );

  it('that is to be asked for again beyond a limit is asked of the next provider', async () => {
    const answer = await answerOf('limited');
    expect(answer.usage).toMatchObject({ provider: 'bolt', attempts: 2 });
    expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['acme', 'bolt']);
  });
});

describe('a structured output in another form', () => {
  let scripted: Awaited<ReturnType<typeof startScriptedGateway>>;
  let gateway: Harness;
  let provider: ScriptedProvider;
  let answers: string[];

  beforeAll(async () => {
    scripted = await startScriptedGateway((outgoing) => sendJson(outgoing, answers.shift() ?? completionOf()));
    ({ gateway, provider } = scripted);
  });
  afterAll(() => scripted.stop());

  async function answerTo(...scripted: string[]): Promise<{ answer: Answer; calls: number }> {
    const before = provider.bodies.length;
    answers = scripted;
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
    const told = await expectError(response, 422, 'schema_validation_failed', { detail: { attempts: 3 } });
    expect(told.message).toMatch(/ the last one fails at \/sky: additionalProperties\.$/);
    await gateway.settled();
    const found = await gateway.get(`/generation?id=${told.correlation_id}`);
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
    const told = await expectError(response, 422, 'schema_validation_failed', { detail: { attempts: 1 } });
    expect(told.message).toMatch(/could not be checked against the schema in time\.$/);
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

// Schemas that were made to hurt: each is refused in its turn, no provider hears of it, and the gateway serves on.
describe('schemas', () => {
  const format = (schema: unknown) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'hostile', schema } },
  });
  const nested = (levels: number): object => {
    let schema: object = {};
    for (let level = 1; level < levels; level += 1) schema = { not: schema };
    return schema;
  };
  const fanOut = (steps: number): object => {
    const twice = (step: number) => ({ allOf: [{ $ref: `#/$defs/d${step + 1}` }, { $ref: `#/$defs/d${step + 1}` }] });
    const links = Array.from({ length: steps }, (_, step): [string, object] => [`d${step}`, twice(step)]);
    return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(links), [`d${steps}`]: {} } };
  };
  const twin = { $id: 'https://schemas.example/twin' };

  const hostile: readonly [what: string, schema: unknown][] = [
    ['a pattern that backtracks without end', { type: 'string', pattern: '^(a+)+$' }],
    ['such a pattern among member names', { patternProperties: { '(x|x)*y': {} } }],
    ['a pattern of another language', { pattern: '(?P<name>a)' }],
    ['more levels than 32', nested(33)],
    ['a hundred levels', nested(100)],
    ['more bytes than 64 KiB', { description: 'x'.repeat(65_536) }],
    ['a reference to another host', { $ref: 'https://schemas.example/a.json' }],
    ['a reference to a file', { $ref: 'file:///etc/passwd' }],
    ['a reference to nothing', { $ref: '#/$defs/nothing' }],
    ['one $id twice', { $defs: { a: twin, b: twin } }],
    ['the $id of the root again', { ...twin, $defs: { a: twin } }],
    ['a reference to itself', { $ref: '#' }],
    ['references that double each other', fanOut(40)],
    ['another draft', { $schema: 'http://json-schema.org/draft-03/schema#' }],
    ['a draft of one’s own', { $schema: 'https://schemas.example/mine' }],
    ['an unknown type', { type: 'date' }],
    ['members that are no schemas', { properties: { a: 'string' } }],
    ['text', 'object'],
    ['a list', [{ type: 'object' }]],
    ['nothing', null],
  ];

  describe('a hostile schema', () => {
    let gateway: Harness;

    beforeAll(async () => {
      gateway = await startHarness({
        models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
        workspace: {
          presets: [{ slug: 'bad', versions: [{ version: '1', config: format({ type: 'date' }) }], designated: '1' }],
          features: { presets: true },
        },
      });
    });
    afterAll(() => gateway.stop());
    beforeEach(() => gateway.simulator.clear());
    afterEach(async () => {
      expect(gateway.simulator.calls).toHaveLength(0);
      const response = await gateway.post(hello('acme/echo', format({ type: 'object' })));
      expect(response.status).toBe(200);
      await response.text();
    });

    it.each(hostile)('is refused, and no provider is called: %s', async (_what, schema) => {
      const { message } = await expectError(
        await gateway.post(hello('acme/echo', format(schema))),
        400,
        'invalid_response_schema',
      );
      expect(message.length).toBeLessThan(500);
    });

    it('is refused in a stream too, and before the stream is', async () => {
      const body = hello('acme/echo', { stream: true, ...format({ type: 'date' }) });
      await expectError(await gateway.post(body), 400, 'invalid_response_schema');
    });

    it('is refused without a schema, or without anything to hold one', async () => {
      for (const json_schema of [undefined, null, {}, { name: 'x' }, [], 'schema']) {
        const body = hello('acme/echo', { response_format: { type: 'json_schema', json_schema } });
        await expectError(await gateway.post(body), 400, 'invalid_response_schema');
      }
    });

    it('that comes with a preset is refused as if the request had brought it', async () => {
      await expectError(await gateway.post(hello('acme/echo', { preset: 'bad' })), 400, 'invalid_response_schema');
    });

    it('of ten thousand levels is refused before anything walks through it', async () => {
      const deep = `${'{"not":'.repeat(10_000)}{}${'}'.repeat(10_000)}`;
      const body = JSON.stringify(hello('acme/echo', format('SCHEMA'))).replace('"SCHEMA"', deep);
      const response = await gateway.post(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: expect.stringMatching(/^invalid_(request|response_schema)$/),
      });
    });

    it('is work, and strangers get none done', async () => {
      const response = await gateway.post(hello('acme/echo', format({ pattern: '^(a+)+$' })), {
        authorization: `Bearer ${gateway.key.slice(0, -1)}`,
      });
      await expectError(response, 401, 'UNAUTHORIZED');
    });
  });

  describe('hostile schemas of one key, all at once', () => {
    it('are each refused in the end, and the calls of another key are served meanwhile, structured ones too', async () => {
      const otherKey = newKey();
      const gateway = await startHarness({
        models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
        moreWorkspaces: [{ id: 'other', credit_usd: '1', keys: [{ name: 'first', key: otherKey }] }],
      });
      const authorization = `Bearer ${otherKey}`;
      let isOver = false;
      const hostile = Array.from({ length: 3 }, async () => {
        const body = hello('acme/echo', format({ type: 'string', pattern: '^(a+)+$' }));
        await expectError(await gateway.post(body), 400, 'invalid_response_schema');
      });
      const all = Promise.all(hostile).then(() => {
        isOver = true;
      });
      let served = 0;
      while (!isOver) {
        const members = served % 2 === 0 ? {} : format({ type: 'object' });
        const response = await gateway.post(hello('acme/echo', members), { authorization });
        expect(response.status).toBe(200);
        await response.text();
        served += 1;
      }
      await all;
      expect(served).toBeGreaterThan(3);
      await gateway.stop();
    });
  });

  describe('a schema that is hostile only together with an answer', () => {
    it('ends within its time: the answer counts as invalid, is not asked for again, and the gateway serves on', async () => {
      const slow = '^id:x*x*x*x*x*x*x*x*x*x*$';
      const content = JSON.stringify(`id:${'x'.repeat(1_000)}!`);
      const provider = await startScriptedProvider((outgoing) => sendJson(outgoing, completionOf({ content })));
      const gateway = await startHarness({
        models: {
          'acme/model': [{ provider: 'acme', upstream: 'any' }],
          'acme/echo': [{ provider: 'bolt', upstream: 'echo' }],
        },
        providers: { acme: { base_url: provider.url } },
      });
      const dragged = gateway.post(hello('acme/model', format({ type: 'string', pattern: slow })));
      const other = await gateway.post(hello('acme/echo'));
      expect(other.status).toBe(200);
      await other.text();
      await expectError(await dragged, 422, 'schema_validation_failed', { detail: { attempts: 1 } });
      expect(provider.bodies).toHaveLength(1);
      await gateway.stop();
      await provider.stop();
    });
  });
});
