// A JSON answer that fails: the next provider answers, or the client gets the one code that says how it can react.
import { afterAll, beforeAll, describe, expect, it, jest } from '#jest';
import { upstreamBodyMaxBytes } from '../../shared/foundation/constants/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type FaultGateway, startFaultGateway } from '../support/fault-gateway.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { spokenInterfaces, translatedInterfaces, wholeInterfaces } from '../support/spoken-interfaces.ts';

const otherForm = 'stream-instead-of-json';
const failing = [
  'error-401',
  'error-402',
  'error-403',
  'error-404',
  'error-408',
  'error-409',
  'error-500',
  'error-503',
  'error-529',
  'error-html',
  'error-empty',
  'error-200',
  'error-200:insufficient_quota',
  'error-leak',
  'redirect',
  'reset',
  'reset-after-headers',
  'switch-protocols',
  'upgrade',
  'processing',
  'close',
  'half-head',
  'no-http',
  'cut',
  'cut-clean',
  'garbage',
  'empty-stream',
  'no-choices',
  otherForm,
];
const rejecting = [
  'error-400',
  'error-413',
  'error-422',
  'error-400:context_length_exceeded',
  'error-200:context_length_exceeded',
];
const limiting = ['error-429', 'error-429:rate_limit_exceeded:7', 'error-200:rate_limit_exceeded'];

/**
 * Each format reads failures in its own way, so every format has these. The gateway's reaction is the same for all
 * formats, so the rest runs on chat completions.
 */
const failingOfEach = ['error-500', 'error-400', 'error-429', 'cut'];
/** Matches faults of a status or a connection, which are read before the body's format matters. */
const toldBeforeTheBody =
  /^error-(402|403|404|408|409|503|529|html|empty)$|^re(direct|set)|^(switch|upgrade|processing|close|half|no-http)/;

/** Interfaces without streams; the other interfaces serve the delivery that the client asked for. */
const hasNoOtherForm: readonly string[] = wholeInterfaces.map(({ api }) => api);

describe.each([...spokenInterfaces, ...translatedInterfaces, ...wholeInterfaces])(
  'a JSON answer of $name that fails',
  ({ hello, unplayed, ...speaks }) => {
    const isChat = speaks.name === 'chat completions';
    const [played, rejected, limitingBehaviours] = [failing, rejecting, limiting].map((all) =>
      all.filter(
        (upstream) =>
          (isChat || !toldBeforeTheBody.test(upstream)) &&
          !unplayed.includes(upstream) &&
          (upstream !== otherForm || hasNoOtherForm.includes(speaks.api)),
      ),
    ) as [string[], string[], string[]];
    const replaced = isChat ? [...played, ...rejected, ...limitingBehaviours] : failingOfEach;
    let gateway: Harness;
    let faults: FaultGateway;

    beforeAll(async () => {
      const alone = [...played, ...rejected, ...limitingBehaviours];
      const good = { input_price_per_million: '9' };
      faults = await startFaultGateway({ speaks, alone, backed: replaced, good });
      ({ gateway } = faults);
    });
    afterAll(() => faults.stop());

    async function post(model: string): Promise<Response> {
      gateway.simulator.clear();
      return gateway.post(hello(model));
    }

    it.each(replaced)('is replaced by the next provider’s: %s', async (upstream) => {
      const response = await post(`backed/${upstream}`);
      expect(response.status).toBe(200);
      const answer = 'answerPart' in speaks ? speaks.answerPart : 'simulated by the provider good';
      expect(await response.text()).toContain(answer);
      expect(response.headers.get('x-gw-provider')).toBe('good');
      expect(faults.calledProviders()).toEqual(['bad', 'good']);
    });

    it.each(played)('is no_available_provider if no provider is left, in our words: %s', async (upstream) => {
      const response = await post(`alone/${upstream}`);
      const text = await response.clone().text();
      await expectError(response, 502, 'no_available_provider');
      expect(response.headers.get('retry-after')).toBeNull();
      expect(text).not.toMatch(/canary|Incorrect|nginx|current quota|insufficient_quota|warming up|status_\d/);
      expect(faults.calledProviders()).toEqual(['bad']);
      faults.expectSent(upstream);
    });

    it.each(rejected)('is invalid_request if every provider rejected it: %s', async (upstream) => {
      const response = await post(`alone/${upstream}`);
      const { reason } = (await response.clone().json()) as { reason?: string };
      await expectError(response, 400, 'invalid_request', reason === undefined ? {} : { reason });
      if (upstream.includes('context')) expect(reason).toBe('context_length_exceeded');
      faults.expectSent(upstream);
    });

    it.each(limitingBehaviours)('is rate_limited if every provider is: %s', async (upstream) => {
      const response = await post(`alone/${upstream}`);
      await expectError(response, 429, 'rate_limited');
      expect(response.headers.get('retry-after')).toBe(upstream.endsWith(':7') ? '7' : '1');
      expect(response.headers.get('x-should-retry')).toBeNull();
      faults.expectSent(upstream);
    });
  },
);

describe('a JSON answer', () => {
  let gateway: Harness;
  let provider: ScriptedProvider;
  let answer = '';

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => sendJson(outgoing, answer));
    const odd = { provider: 'odd', upstream: 'odd' };
    const good = { provider: 'good', upstream: 'echo', more: { input_price_per_million: '9' } };
    gateway = await startHarness({
      models: {
        'alone/odd': [odd],
        'backed/odd': [odd, good],
        'alone/good': [good],
        'alone/hinted': [{ provider: 'good', upstream: 'early-hints' }],
        'backed/large': [{ ...odd, provider: 'large' }, good],
      },
      providers: { odd: { base_url: provider.url }, large: { base_url: provider.url } },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await provider.stop();
  });

  it('before which its provider hints is waited for', async () => {
    const response = await gateway.post(hello('alone/hinted'));
    expect([response.status, response.headers.get('x-gw-provider')]).toEqual([200, 'good']);
    await response.text();
  });

  const values = (count: number) =>
    `{"choices":[{"message":{}}],"usage":{},"x":[${new Array(count - 6).fill('{}').join(',')}]}`;
  const indexed = (index: string) => `{"choices":[{"index":${index},"message":{"content":"x"}}],"usage":{}}`;

  it.each([
    ['a choice of index 0.5', indexed('0.5')],
    ['a choice of index -1', indexed('-1')],
    ['a choice of index 128', indexed('128')],
    ['a choice of index "0"', indexed('"0"')],
  ])(
    'with %s is none: the next provider answers, and if there is no other one nothing is charged',
    async (_name, text) => {
      answer = text;
      // The call of the test before is settled after its answer.
      await gateway.settled();
      const spent = await expectBalancedBooks(gateway);
      const calls = provider.bodies.length;
      await expectError(await gateway.post(hello('alone/odd')), 502, 'no_available_provider');
      await gateway.settled();
      expect(await expectBalancedBooks(gateway)).toBe(spent);
      const response = await gateway.post(hello('backed/odd'));
      expect(response.status).toBe(200);
      expect(((await response.json()) as { usage: object }).usage).toMatchObject({ provider: 'good' });
      expect(provider.bodies.length).toBeGreaterThan(calls);
    },
  );

  it.each<[string, string, bigint | undefined]>([
    // The usage is 10 tokens of input at $1 and 5 of output at $2 a million.
    [
      '100,001 values and says what it used',
      values(100_001).replace('"usage":{}', '"usage":{"prompt_tokens":10,"completion_tokens":5}'),
      20_000_000n,
    ],
    ['100,001 values and says nothing', values(100_001), undefined],
    [
      'more bytes than are read',
      `{"choices":[{"message":{"content":"${'x'.repeat(upstreamBodyMaxBytes)}"}}]}`,
      undefined,
    ],
  ])(
    'with %s was finished: it is charged, within what was reserved, and no other provider is called',
    async (_name, text, cost) => {
      answer = text;
      await gateway.settled();
      const spent = await expectBalancedBooks(gateway);
      gateway.simulator.clear();
      const calls = provider.bodies.length;
      const response = await gateway.post(hello('backed/large', { max_tokens: 50 }), {
        'idempotency-key': crypto.randomUUID(),
      });
      expect(response.headers.get('x-should-retry')).toBe('false');
      await expectError(response, 502, 'no_available_provider');
      await gateway.settled();
      const charge = (await expectBalancedBooks(gateway)) - spent;
      if (cost === undefined) expect(charge).toBeGreaterThanOrEqual(100_000_000n);
      else expect(charge).toBe(cost);
      // The charge is 50 tokens at $2 a million, and at most a token at $9 for each byte of the request.
      expect(charge).toBeLessThan(100_000_000n + 9_000_000n * 200n);
      expect([provider.bodies.length - calls, gateway.simulator.calls.length]).toEqual([1, 0]);
    },
  );

  it('of 28 MB is served, and kept for retries, if log probabilities were asked for, and refused if not', async () => {
    const one = { token: ' word', logprob: -0.123456789, bytes: [32, 119, 111, 114, 100] };
    const item = JSON.stringify({ ...one, top_logprobs: Array(20).fill({ ...one, bytes: Array(9).fill(111) }) });
    const usage = '"usage":{"prompt_tokens":10,"completion_tokens":5}';
    const choice = `{"index":0,"message":{"content":"x"},"logprobs":{"content":[${Array(16_384).fill(item).join(',')}]}}`;
    answer = `{"choices":[${choice}],${usage}}`;
    expect(answer.length).toBeGreaterThan(28_000_000);
    const ask = async (more: object, key: string) => {
      const calls = provider.bodies.length;
      const response = await gateway.post(hello('backed/large', { max_tokens: 50, ...more }), {
        'idempotency-key': key,
      });
      const text = await response.text();
      await gateway.settled();
      return { status: response.status, text, calls: provider.bodies.length - calls };
    };
    const spent = await expectBalancedBooks(gateway);
    const [fields, key] = [{ logprobs: true, top_logprobs: 20 }, crypto.randomUUID()];
    const first = await ask(fields, key);
    expect([first.status, first.calls]).toEqual([200, 1]);
    const head = answer.slice(0, -usage.length - 1);
    expect(first.text.startsWith(head)).toBe(true);
    expect(first.text.slice(head.length)).toMatch(
      /^"usage":\{"prompt_tokens":10,"completion_tokens":5,.*"cost":.*\}\}$/,
    );
    const again = await ask(fields, key);
    expect([again.status, again.calls, again.text === first.text]).toEqual([200, 0, true]);
    expect((await expectBalancedBooks(gateway)) - spent).toBe(20_000_000n);
    const unasked = { logprobs: false, top_logprobs: null };
    expect(await ask(unasked, crypto.randomUUID())).toMatchObject({ status: 502, calls: 1 });
  });

  const names = Array.from({ length: 95_000 }, (_, index) => `"k${index.toString(36)}" : 1.0`).join(',');
  const choices = '"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}]';
  it.each([
    ['100,000 values', values(100_000)],
    ['95,000 members of its own', `{"usage":{},${choices},${names}}`],
    ['95,000 members in a message', `{"usage":{},"choices":[{"index":0,"message":{"content":"x",${names}}}]}`],
    ['95,000 numbers beyond 2^53', `{"usage":{},${choices},"x":[${new Array(95_000).fill('1e99').join(',')}]}`],
  ])('of %s is relayed as it came, and read no further than the gateway needs', async (_name, text) => {
    answer = text;
    const [parse, stringify] = [jest.spyOn(JSON, 'parse'), jest.spyOn(JSON, 'stringify')];
    let relayedText = '';
    let handled: unknown[] = [];
    try {
      const response = await gateway.post(hello('alone/odd'), { 'idempotency-key': crypto.randomUUID() });
      expect(response.status).toBe(200);
      relayedText = await response.text();
      const texts = [...parse.mock.calls.map(([each]) => each), ...stringify.mock.results.map(({ value }) => value)];
      handled = texts.filter((each) => /"kz|1e99,1e99|\{\},\{\}/.test(String(each)));
    } finally {
      parse.mockRestore();
      stringify.mockRestore();
    }
    expect(handled).toHaveLength(0);
    const [before, after] = text.split('"usage":{},', 2) as [string, string];
    expect(relayedText.startsWith(`${before}${after.slice(0, -1)},"usage":{`)).toBe(true);
    expect((JSON.parse(relayedText) as { usage: object }).usage).toMatchObject({ estimated: true, provider: 'odd' });
  });
});
