// One execution of a prompt: who answers, what it costs, what the answer carries, and how it fails.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, jsonSchema, modelsFor, prompt, step, workflow } from '../support/function-calls.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

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
/** Letters, digits and hyphens only: an id is no model name. */
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
  const called = () => harness.simulator.calls.map(({ model }) => model);
  /** What the workspace paid for the work, with its books looked at. */
  async function spentBy(work: () => Promise<void>): Promise<bigint> {
    await harness.settled();
    const { spent } = await harness.credit();
    await work();
    await harness.settled();
    return (await expectBalancedBooks(harness)) - spent;
  }

  it('answers with the body of the provider, the usage of the call, and four members in gw', async () => {
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
    // The first 48 bits are the time.
    expect(Number.parseInt(gw.execution_id.replaceAll('-', '').slice(0, 12), 16)).toBe(clock.nowMs());
    expect(usage).toMatchObject({ cost: 0.002, cost_usd: '0.002', attempts: 1, provider: 'acme', is_byok: false });
    expect(headers.get('x-gw-model')).toBe('acme/usage:1000:500');
    expect(headers.get('x-gw-provider')).toBe('acme');
    expect(headers.get('server-timing')).toMatch(/^gw;dur=\d+(\.\d+)?$/);
    expect(headers.get('idempotent-replayed')).toBeNull();
  });

  it('keeps what the provider answered, unknown members, large numbers and refusals included', async () => {
    expect((await answerOf(await call('unknown-members'))).text).toContain('"big":12345678901234567890');
    const { body } = await answerOf(await call('refusal'));
    expect(body.choices).toMatchObject([{ message: { content: null, refusal: expect.any(String) } }]);
  });

  it('strips reasoning where its revision excludes it', async () => {
    expect((await answerOf(await call('reasoning'))).text).toContain('The user wants');
    expect((await answerOf(await call('quiet'))).text).not.toContain('The user wants');
  });

  it.each(failing)('falls back to the next model where a provider fails: %s', async (name) => {
    const { gw, usage, headers } = await answerOf(await call(`backed-${name}`));
    expect(gw.fallback_used).toBe(true);
    expect(usage).toMatchObject({ attempts: 2, model: 'acme/echo' });
    expect(headers.get('x-gw-model')).toBe('acme/echo');
    expect(called()).toEqual([name, 'echo']);
  });

  it.each(failing)('is execution_failed where no model is left, in our words and at no cost: %s', async (name) => {
    const spent = await spentBy(async () => {
      const response = await call(name);
      const { message } = await expectError(response, 502, 'execution_failed');
      expect(message).not.toMatch(/Incorrect|nginx|quota|status/);
      expect(response.headers.get('retry-after')).toBeNull();
    });
    expect(spent).toBe(0n);
    expect(called()).toEqual([name]);
  });

  it.each(['nowhere', 'unconfigured', 'unpriced', 'toolless'])(
    'is execution_failed where no provider could serve its model, and no provider is called: %s',
    async (name) => {
      await expectError(await call(name), 502, 'execution_failed');
      expect(called()).toEqual([]);
    },
  );

  it('uses the fallback where no provider serves the model at all', async () => {
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
      expect(called()).toEqual(['invalid-json-once', 'invalid-json-once']);
    });

    it.each([
      ['invalid-json', 3],
      ['invalid-json:mismatch', 3],
      // The next answer would end at the same limit.
      ['truncated-json', 1],
    ])('falls back where the model does not satisfy it: %s', async (name, answers) => {
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
      expect(called()).toEqual([...Array<string>(answers).fill(name), 'echo']);
    });

    it('goes through all its fallback models', async () => {
      const { gw, usage } = await answerOf(await call('worse-and-worse'));
      expect(gw.fallback_used).toBe(true);
      expect(usage.attempts).toBe(8);
      expect([...new Set(called())]).toEqual(['invalid-json', 'error-500', 'invalid-json:mismatch', 'echo']);
    });

    it.each(invalid)(
      'is terminally execution_failed where no model satisfies it, says where, and is paid: %s',
      async (name) => {
        const spent = await spentBy(async () => {
          const response = await call(`label-${idOf(name)}`);
          const { message } = await expectError(response, 502, 'execution_failed');
          // A client that repeats it would pay once more.
          expect(response.headers.get('x-should-retry')).toBe('false');
          expect(message).toMatch(/: the last one fails at \/.*: .+\. GET \/v1\/generation\?id=/);
        });
        expect(spent).toBeGreaterThan(0n);
      },
    );
  });

  describe('that takes too long', () => {
    const called1 = () => harness.simulator.until((calls) => calls.length === 1);
    const silentIsLeft = () =>
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
        await silentIsLeft();
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
      await silentIsLeft();
    });

    it('holds what the answers of all its models may cost, and gives it back', async () => {
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
      expect(called()).toEqual(['echo', 'silent']);
      const record = (await harness.records()).find(({ functionId }) => functionId === 'slow-end');
      expect(record).toMatchObject({ outcome: 'execution_deadline_exceeded', attempts: 2, totalMs: 55_000 });
      expect(record?.gatewayMs).toBe(0);
    });
  });
});
