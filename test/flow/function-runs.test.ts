// One execution of a prompt: which model answers, what it costs, what the answer contains, and how it fails.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { summarizeUsage } from '../../shared/accounting/reports/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, jsonSchema, modelsFor, prompt, receivedIn, step, workflow } from '../support/function-calls.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const failing = ['error-400', 'error-429', 'error-500', 'cut'];
const invalid = ['invalid-json', 'invalid-json:mismatch', 'truncated-json'];
const plain = ['usage:1000:500', 'refusal', 'reasoning', 'unknown-members', 'silent', 'two-choices'];
const structured = ['fenced-json', 'invalid-json-once'];

const schema = {
  type: 'object',
  properties: { label: { type: 'string', enum: ['bug', 'idea'] } },
  required: ['label'],
  additionalProperties: false,
};
const response_format = jsonSchema(schema);
const good = { fallback_models: ['acme/echo'] };
/** An id may have letters, digits and hyphens only; a model name may have more. */
const idOf = (behaviour: string): string => behaviour.replaceAll(':', '-');

const functions = [
  ...[...plain, ...failing].map((name) => prompt(idOf(name), { model: `acme/${name}` })),
  ...[...failing, 'silent'].map((name) => prompt(`backed-${name}`, { model: `acme/${name}`, ...good })),
  ...['echo', ...structured, ...invalid].map((name) =>
    prompt(`label-${idOf(name)}`, { model: `acme/${name}`, response_format }),
  ),
  ...invalid.map((name) => prompt(`backed-${idOf(name)}`, { model: `acme/${name}`, response_format, ...good })),
  prompt('silent-label', { model: 'acme/silent', response_format }),
  prompt('silent-label-backed', { model: 'acme/silent', response_format, ...good }),
  prompt('worse-and-worse', {
    model: 'acme/invalid-json',
    fallback_models: ['acme/error-500', 'acme/invalid-json:mismatch', 'acme/echo'],
    response_format,
  }),
  prompt('quiet', { model: 'acme/reasoning', options: { reasoning: { exclude: true } } }),
  prompt('nowhere', { model: 'acme/nowhere' }),
  prompt('nowhere-backed', { model: 'acme/nowhere', ...good }),
  prompt('unconfigured', { model: 'acme/unconfigured' }),
  prompt('unpriced', { model: 'acme/unpriced' }),
  prompt('toolless', { model: 'acme/toolless', options: { tools: [{ type: 'function', function: { name: 'f' } }] } }),
  workflow('slow-end', [step('a', '{{input.x}}'), step('b', '{{steps.a.output}}', { model: 'acme/silent' })], {
    step: 'b',
  }),
];

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('an execution', () => {
  let clock: ManualClock;
  let harness: Harness;

  beforeAll(async () => {
    clock = manualClock();
    const only = (more: object) => [{ provider: 'acme', upstream: 'echo', more: { ...more } }];
    harness = await startHarness({
      clock,
      models: {
        ...modelsFor(['echo', ...plain, ...failing, ...invalid, ...structured]),
        'acme/nowhere': [],
        'acme/unconfigured': [{ provider: 'locked', upstream: 'echo' }],
        'acme/unpriced': only({ input_price_per_million: null, output_price_per_million: null }),
        'acme/toolless': only({
          supported_params: { tools: false, vision: false, json_mode: true, json_schema: true },
        }),
      },
      providers: { locked: { auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } } },
      workspace: { functions },
    });
  });
  afterAll(() => harness.stop());
  beforeEach(() => harness.simulator.clear());

  const call = (alias: string) => harness.post(ask(alias));
  const calledModels = () => harness.simulator.calls.map(({ model }) => model);
  /** Returns the workspace's charges for the work, and checks that the books balance. */
  async function spentBy(work: () => Promise<void>): Promise<bigint> {
    await harness.settled();
    const { spent } = await harness.credit();
    await work();
    await harness.settled();
    return (await expectBalancedBooks(harness)) - spent;
  }

  it('answers with the body of the provider, the usage of the call, and four fields in gw', async () => {
    const { body, gw, usage, headers } = await answerOf(await call('usage-1000-500'));
    expect(
      Object.keys(body)
        .filter((name) => name !== 'gw')
        .toSorted(),
    ).toEqual(['choices', 'created', 'id', 'model', 'object', 'system_fingerprint', 'usage'].toSorted());
    expect(gw).toEqual({
      function_id: 'usage-1000-500',
      revision_id: 'r1',
      fallback_used: false,
      execution_id: expect.stringMatching(uuidv7),
    });
    // The first 48 bits of the id are the time.
    expect(Number.parseInt(gw.execution_id.replaceAll('-', '').slice(0, 12), 16)).toBe(clock.nowMs());
    expect(usage).toMatchObject({ cost: 0.002, cost_usd: '0.002', attempts: 1, provider: 'acme', is_byok: false });
    expect(headers.get('x-gw-model')).toBe('acme/usage:1000:500');
    expect(headers.get('x-gw-provider')).toBe('acme');
    expect(headers.get('server-timing')).toMatch(/^gw;dur=\d+(\.\d+)?$/);
    expect(headers.get('idempotent-replayed')).toBeNull();
  });

  it('keeps what the provider answered, unknown fields, large numbers and refusals included', async () => {
    expect((await answerOf(await call('unknown-members'))).text).toContain('"big":12345678901234567890');
    const { body } = await answerOf(await call('refusal'));
    expect(body.choices).toMatchObject([{ message: { content: null, refusal: expect.any(String) } }]);
  });

  it('strips reasoning if its revision excludes it', async () => {
    expect((await answerOf(await call('reasoning'))).text).toContain('The user wants');
    expect((await answerOf(await call('quiet'))).text).not.toContain('The user wants');
  });

  it.each(failing)('falls back to the next model if a provider fails: %s', async (name) => {
    const { gw, usage, headers } = await answerOf(await call(`backed-${name}`));
    expect(gw.fallback_used).toBe(true);
    expect(usage).toMatchObject({ attempts: 2, model: 'acme/echo' });
    expect(headers.get('x-gw-model')).toBe('acme/echo');
    expect(calledModels()).toEqual([name, 'echo']);
  });

  it.each(failing)('is execution_failed if no model is left, in our words and at no cost: %s', async (name) => {
    const spent = await spentBy(async () => {
      const response = await call(name);
      const { message } = await expectError(response, 502, 'execution_failed');
      expect(message).not.toMatch(/Incorrect|nginx|quota|status/);
      expect(response.headers.get('retry-after')).toBeNull();
    });
    expect(spent).toBe(0n);
    expect(calledModels()).toEqual([name]);
  });

  it.each(['nowhere', 'unconfigured', 'unpriced', 'toolless'])(
    'is execution_failed if no provider could serve its model, and no provider is called: %s',
    async (name) => {
      await expectError(await call(name), 502, 'execution_failed');
      expect(calledModels()).toEqual([]);
    },
  );

  it('uses the fallback if no provider serves the model at all', async () => {
    expect((await answerOf(await call('nowhere-backed'))).gw.fallback_used).toBe(true);
  });

  describe('with a response format', () => {
    it.each(['echo', 'fenced-json'])(
      'answers with what satisfies the schema, and nothing around it: %s',
      async (name) => {
        const { content, gw } = await answerOf(await call(`label-${name}`));
        expect(JSON.parse(content)).toEqual({ label: 'bug' });
        expect(content).toMatch(/^\{.*\}$/s);
        expect(gw.fallback_used).toBe(false);
      },
    );

    it('asks the same model again first, and charges both answers', async () => {
      const spent = await spentBy(async () => {
        const { gw, usage, content } = await answerOf(await call('label-invalid-json-once'));
        expect(JSON.parse(content)).toEqual({ label: 'bug' });
        expect(gw.fallback_used).toBe(false);
        expect(usage.attempts).toBe(2);
        const [first, second] = harness.simulator.calls;
        expect(first?.bodyText).toBe(second?.bodyText);
      });
      expect(spent).toBeGreaterThan(0n);
      expect(calledModels()).toEqual(['invalid-json-once', 'invalid-json-once']);
    });

    it.each([
      ['invalid-json', 3],
      ['invalid-json:mismatch', 3],
      // The function does not try again, because the next answer would end at the same limit.
      ['truncated-json', 1],
    ])('falls back if the model does not satisfy it: %s', async (name, answers) => {
      const spent = await spentBy(async () => {
        const { gw, usage, content, headers } = await answerOf(await call(`backed-${idOf(name)}`));
        expect(JSON.parse(content)).toEqual({ label: 'bug' });
        expect(gw.fallback_used).toBe(true);
        expect(usage).toMatchObject({ attempts: answers + 1, model: 'acme/echo' });
        expect(headers.get('x-gw-model')).toBe('acme/echo');
        const tokens = BigInt(Number(usage.prompt_tokens) + 2 * Number(usage.completion_tokens));
        expect(usage.cost_usd).toBe((Number(tokens) / 1_000_000).toFixed(6).replace(/0+$/, ''));
      });
      expect(spent).toBeGreaterThan(0n);
      expect(calledModels()).toEqual([...Array<string>(answers).fill(name), 'echo']);
    });

    it('goes through all its fallback models', async () => {
      const { gw, usage } = await answerOf(await call('worse-and-worse'));
      expect(gw.fallback_used).toBe(true);
      expect(usage.attempts).toBe(8);
      expect([...new Set(calledModels())]).toEqual(['invalid-json', 'error-500', 'invalid-json:mismatch', 'echo']);
    });

    it.each(invalid)(
      'is terminally execution_failed where no model satisfies it, says where, and is paid: %s',
      async (name) => {
        const spent = await spentBy(async () => {
          const response = await call(`label-${idOf(name)}`);
          const { message } = await expectError(response, 502, 'execution_failed');
          // The client must not repeat the request, because it would pay once more.
          expect(response.headers.get('x-should-retry')).toBe('false');
          expect(message).toMatch(/: the last one fails at \/.*: .+\. GET \/v1\/generation\?id=/);
        });
        expect(spent).toBeGreaterThan(0n);
      },
    );
  });

  describe('that takes too long', () => {
    const called1 = () => harness.simulator.until((calls) => calls.length === 1);
    const untilSilentEnds = () =>
      harness.simulator.until((calls) => calls.some(({ model, closedEarly }) => model === 'silent' && closedEarly));

    it('ends at 55 seconds: 504, terminal, its provider let go, nothing charged', async () => {
      const spent = await spentBy(async () => {
        const answer = call('silent');
        await called1();
        clock.advance(54_999);
        expect(harness.simulator.calls[0]?.ended).toBe(false);
        clock.advance(1);
        const response = await answer;
        await expectError(response, 504, 'execution_deadline_exceeded');
        expect(response.headers.get('x-should-retry')).toBe('false');
        await untilSilentEnds();
      });
      expect(spent).toBe(0n);
    });

    it('leaves ten seconds to its fallback model', async () => {
      const answer = call('backed-silent');
      await called1();
      clock.advance(45_000);
      const { gw, usage } = await answerOf(await answer);
      expect(gw.fallback_used).toBe(true);
      expect(usage.attempts).toBe(2);
      await untilSilentEnds();
    });

    it('reserves what the answers of all its models may cost, and releases it', async () => {
      const heldBy = async (alias: string, untilMs: number) => {
        await harness.settled();
        harness.simulator.clear();
        const answer = call(alias);
        await called1();
        const { held } = await harness.credit();
        clock.advance(untilMs);
        await (await answer).text();
        return held;
      };
      const alone = await heldBy('silent-label', 55_000);
      expect(alone).toBeGreaterThan(0n);
      expect(await heldBy('silent-label-backed', 45_000)).toBe(2n * alone);
      await harness.settled();
      await expectBalancedBooks(harness);
    });

    it('in a workflow pays the steps that were done', async () => {
      const spent = await spentBy(async () => {
        const answer = harness.post(ask('slow-end', { x: 'X' }));
        await harness.simulator.until((calls) => calls.some(({ model }) => model === 'silent'));
        clock.advance(55_000);
        await expectError(await answer, 504, 'execution_deadline_exceeded');
      });
      expect(spent).toBeGreaterThan(0n);
      expect(calledModels()).toEqual(['echo', 'silent']);
      const record = (await harness.records()).find(({ functionId }) => functionId === 'slow-end');
      expect(record).toMatchObject({ outcome: 'execution_deadline_exceeded', attempts: 2, totalMs: 55_000 });
      expect(record?.gatewayMs).toBe(0);
    });
  });
});

// Workflows through the front door: which steps run when, what they see, and who pays for them when a step fails.
describe('workflows', () => {
  const behaviours = [
    'echo',
    'echo-request',
    'refusal',
    'silent',
    'error-500',
    'invalid-json',
    'usage:1000:500',
    'usage:10:20',
    'usage:3:1',
  ];
  const on = (behaviour: string, more = {}) => ({ model: `acme/${behaviour}`, ...more });
  const labelled = jsonSchema({
    type: 'object',
    properties: { label: { type: 'string', const: 'bug' } },
    required: ['label'],
  });

  /**
   * Starts a provider that holds its answers until two calls have arrived: a gateway that sends calls one after the
   * other would wait for ever.
   */
  async function startMeetingPlace(): Promise<ScriptedProvider> {
    const waiting: (() => void)[] = [];
    const provider = await startScriptedProvider((outgoing) => {
      const { messages } = JSON.parse(provider.bodies.at(-1) ?? '') as { messages: { content: string }[] };
      const text = messages.at(-1)?.content ?? '';
      const reply = () => sendJson(outgoing, completionOf({ content: `<${text}>` }));
      if (text.startsWith('join')) return reply();
      waiting.push(reply);
      if (waiting.length === 2) for (const each of waiting.splice(0)) each();
    });
    return provider;
  }

  const functions = [
    workflow(
      'meeting',
      [
        step('join', 'join {{steps.left.output}} {{steps.right.output}} {{input.x}}', { model: 'acme/meeting' }),
        step('left', 'left {{input.x}}', { model: 'acme/meeting' }),
        step('right', 'right {{input.x}}', { model: 'acme/meeting' }),
      ],
      'Result: {{steps.join.output}}; first {{steps.left.output}}',
    ),
    workflow(
      'costs',
      [
        step('a', '{{input.x}}', on('usage:1000:500')),
        step('b', '{{input.x}}', on('usage:10:20')),
        step('c', '{{steps.a.output}} {{steps.b.output}}', on('usage:3:1')),
      ],
      { step: 'c' },
    ),
    workflow(
      'structured',
      [
        step('label', '{{input.x}}', { response_format: labelled }),
        step('use', 'The label is {{steps.label.output.label}}, all of it {{steps.label.output}}', on('echo-request')),
      ],
      { step: 'use' },
    ),
    workflow(
      'backed',
      [
        step('a', '{{input.x}}', on('error-500', { fallback_models: ['acme/usage:10:20'] })),
        step('b', '{{steps.a.output}}', on('usage:3:1')),
      ],
      { step: 'b' },
    ),
    workflow('unwilling', [step('a', '{{input.x}}', on('refusal', { fallback_models: ['acme/usage:10:20'] }))], {
      step: 'a',
    }),
    workflow('refusing', [step('a', '{{input.x}}', on('refusal')), step('b', '{{steps.a.output}}')], { step: 'b' }),
    workflow(
      'broken',
      [
        step('a', '{{input.x}}', on('usage:1000:500')),
        step('b', '{{steps.a.output}}', on('error-500')),
        step('c', '{{steps.b.output}}', on('usage:10:20')),
      ],
      { step: 'c' },
    ),
    workflow(
      'split',
      [
        step('a', '{{input.x}}', on('silent')),
        step('b', '{{input.x}}', on('error-500')),
        step('c', '{{steps.a.output}}'),
      ],
      { step: 'c' },
    ),
    workflow(
      'prose',
      [
        step('a', '{{input.x}}', on('usage:1000:500', { response_format: { type: 'json_object' } })),
        step('b', '{{steps.a.output.missing}}'),
      ],
      { step: 'b' },
    ),
  ];

  describe('a workflow', () => {
    let harness: Harness;
    let meeting: ScriptedProvider;

    beforeAll(async () => {
      meeting = await startMeetingPlace();
      harness = await startHarness({
        models: { ...modelsFor(behaviours), 'acme/meeting': [{ provider: 'meeting', upstream: 'meeting' }] },
        providers: { meeting: { base_url: meeting.url } },
        workspace: { functions },
      });
    });
    afterAll(async () => {
      await harness.stop();
      await meeting.stop();
    });
    beforeEach(() => harness.simulator.clear());

    const run = (id: string, more = {}) => harness.post(ask(id, { x: 'X' }, more));
    const calledModels = () => harness.simulator.calls.map(({ model }) => model);
    const spentBy = async (work: () => Promise<void>): Promise<bigint> => {
      await harness.settled();
      const { spent } = await harness.credit();
      await work();
      await harness.settled();
      return (await expectBalancedBooks(harness)) - spent;
    };

    it('has its independent steps at the provider at the same time, and the joining one sees both answers', async () => {
      const { content, body, gw, usage } = await answerOf(await run('meeting'));
      const joined = '<join <left X> <right X> X>';
      expect(content).toBe(`Result: ${joined}; first <left X>`);
      const conversations = meeting.bodies.map(
        (text) => (JSON.parse(text) as { messages: { content: string }[] }).messages,
      );
      expect(conversations.map(([message]) => message?.content).toSorted()).toEqual([
        joined.slice(1, -1),
        'left X',
        'right X',
      ]);
      expect(conversations[2]).toEqual([{ role: 'user', content: joined.slice(1, -1) }]);
      expect(body).toMatchObject({ object: 'chat.completion', model: 'gw/function/meeting' });
      expect(body.choices).toMatchObject([{ index: 0, finish_reason: 'stop', message: { role: 'assistant' } }]);
      expect(gw).toMatchObject({ function_id: 'meeting', revision_id: 'r1', fallback_used: false });
      expect(usage).toMatchObject({ attempts: 3, prompt_tokens: 30, completion_tokens: 15, total_tokens: 45 });
    });

    it('answers with the usage and the cost of all its provider calls, and is charged exactly that', async () => {
      const spent = await spentBy(async () => {
        const { usage, headers } = await answerOf(await run('costs'));
        expect(usage).toMatchObject({
          prompt_tokens: 1013,
          completion_tokens: 521,
          total_tokens: 1534,
          // The cost is that of 1013 tokens at 1.00 and 521 at 2.00 per million.
          cost: 0.002055,
          cost_usd: '0.002055',
          cost_details: { upstream_inference_prompt_cost: 0.001013, upstream_inference_completions_cost: 0.001042 },
          is_byok: false,
          attempts: 3,
          cache_hit: false,
          provider: 'acme',
          model: 'acme/usage:3:1',
        });
        expect(usage).not.toHaveProperty('estimated');
        expect(headers.get('server-timing')).toMatch(/^gw;dur=\d+(\.\d+)?$/);
        // Several models answered, so no header names a model.
        expect([headers.get('x-gw-model'), headers.get('x-gw-provider')]).toEqual([null, null]);
      });
      expect(spent).toBe(2_055_000_000n);
      expect(calledModels().toSorted()).toEqual(['usage:1000:500', 'usage:10:20', 'usage:3:1']);
      expect(calledModels().at(-1)).toBe('usage:3:1');
    });

    it('hands a part of a structured answer to the next step, and user and metadata to each', async () => {
      const passedFields = { user: 'u', metadata: { k: 'v' } };
      const { body } = receivedIn(await answerOf(await run('structured', passedFields)));
      expect(body.messages).toEqual([{ role: 'user', content: 'The label is bug, all of it {"label":"bug"}' }]);
      expect(harness.simulator.calls).toHaveLength(2);
      for (const call of harness.simulator.calls) expect(call.body).toMatchObject(passedFields);
    });

    it('says so if a fallback model produced a part of it', async () => {
      const { gw, usage } = await answerOf(await run('backed'));
      expect(gw.fallback_used).toBe(true);
      expect(usage).toMatchObject({ attempts: 3, prompt_tokens: 13, completion_tokens: 21 });
      expect(calledModels()).toEqual(['error-500', 'usage:10:20', 'usage:3:1']);
    });

    it('asks the fallback model of a step whose model refuses, and pays both', async () => {
      const spent = await spentBy(async () => {
        const { gw, usage } = await answerOf(await run('unwilling'));
        expect(gw.fallback_used).toBe(true);
        expect(usage.attempts).toBe(2);
        expect(Number(usage.prompt_tokens)).toBeGreaterThan(10);
      });
      // The charge is more than that of the second answer.
      expect(spent).toBeGreaterThan(50_000_000n);
      expect(calledModels()).toEqual(['refusal', 'usage:10:20']);
    });

    it.each([
      ['whose provider fails', 'broken', ['usage:1000:500', 'error-500'], 2_000_000_000n],
      ['whose answer lacks what the next one needs', 'prose', ['usage:1000:500'], 2_000_000_000n],
    ])('fails with a step %s: nothing more is started, and what was done is paid', async (_name, id, calls, cost) => {
      const spent = await spentBy(async () => {
        await expectError(await run(id), 502, 'execution_failed');
      });
      expect(calledModels()).toEqual(calls);
      expect(spent).toBe(cost);
      const [record] = (await harness.records()).toReversed();
      expect(record).toMatchObject({
        functionId: id,
        revisionId: 'r1',
        outcome: 'execution_failed',
        costPicoUsd: cost,
      });
      expect(record?.attempts).toBe(calls.length);
    });

    it('is recorded with what each model of each provider answered, and what the first ones did is not lost in the last', async () => {
      await answerOf(await run('unwilling'));
      await harness.settled();
      const [record] = (await harness.records()).toReversed();
      expect(record).toMatchObject({ functionId: 'unwilling', attempts: 2 });
      const [other, ...more] = record?.otherShares ?? [];
      expect(more).toEqual([]);
      expect(other?.model).not.toBe(record?.modelServed);
      expect(record?.attemptLog?.map(({ model }) => model)).toEqual([other?.model, record?.modelServed]);
      const { groups } = await summarizeUsage([record as NonNullable<typeof record>], 'model');
      expect(new Set(groups.map(({ group }) => group))).toEqual(new Set([other?.model, record?.modelServed]));
      expect(groups.every(({ calls, promptTokens }) => calls === 1 && promptTokens > 0n)).toBe(true);
    });

    it('fails with a step that refuses and has no fallback, and hands no refusal on', async () => {
      await expectError(await run('refusing'), 502, 'execution_failed');
      expect(calledModels()).toEqual(['refusal']);
    });

    it('stops the steps beside the one that failed, and does not wait for their providers', async () => {
      const spent = await spentBy(async () => {
        await expectError(await run('split'), 502, 'execution_failed');
      });
      await harness.simulator.until((calls) =>
        calls.some(({ model, closedEarly }) => model === 'silent' && closedEarly),
      );
      expect(calledModels().toSorted()).toEqual(['error-500', 'silent']);
      expect(spent).toBe(0n);
    });
  });
});
