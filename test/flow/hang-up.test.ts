// A client that leaves: its provider is read on, and no other is called. Sockets that died are replaced.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { requestBudgetMs, streamReadOnMaxMs } from '../../shared/foundation/constants/index.ts';
import { plainErrorOf } from '../support/expect-error.ts';
import { type Harness, hello as helloChat, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';
import { readStream, readUntil, readWhole } from '../support/read-stream.ts';
import { spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';
import { watchedClock } from '../support/watched-clock.ts';

/** What is done knows no interface: one whose answers are relayed, and one whose stream is translated, in frames of its own. */
const forms = [...spokenInterfaces, ...translatedInterfaces].filter(
  ({ name }) => name === 'chat completions' || name === 'chat completions for converse',
);

describe.each(forms)('a client of $name that hangs up', ({ hello, brokenWith, ...speaks }) => {
  let gateway: Harness;
  const clock = watchedClock();

  beforeAll(async () => {
    const good = { provider: 'good', upstream: 'echo', more: { output_price_per_million: '9.00' } };
    gateway = await startHarness({
      clock,
      speaks,
      models: {
        'acme/endless': [{ provider: 'acme', upstream: 'endless:1' }, good],
        'acme/silent': [{ provider: 'acme', upstream: 'silent' }, good],
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
      },
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    gateway.simulator.clear();
    clock.forget();
  });

  describe('a gateway that is stopped', () => {
    it('gives calls in flight five seconds, then cuts and settles them, and calls no other provider', async () => {
      const { spent } = await gateway.credit();
      const stopped = await gateway.open();
      const stream = await stopped.post(hello('acme/endless', { stream: true }));
      const json = stopped.post(hello('acme/silent'));
      await gateway.simulator.until((calls) => calls.length === 2);
      const closed = stopped.close();
      await clock.waitsFor((delayMs) => delayMs === 5_000);
      clock.advance(4_999);
      expect(gateway.simulator.calls.map((call) => call.closedEarly)).toEqual([false, false]);
      clock.advance(1);
      expect(brokenWith((await readWhole(stream)).text)).toBe('no_available_provider');
      const answer = await json;
      expect(answer.status).toBe(502);
      expect(plainErrorOf((await answer.json()) as never)).toMatchObject({
        error: 'no_available_provider',
        message: 'The gateway was stopped while the call ran: send it again.',
      });
      await closed;
      // Settled when closing is done: nothing is held, and what the stream brought is paid.
      const after = await gateway.credit();
      expect(after.held).toBe(0n);
      expect(after.spent).toBeGreaterThan(spent);
      expect(gateway.simulator.calls.map(({ provider, closedEarly }) => [provider, closedEarly])).toEqual([
        ['acme', true],
        ['acme', true],
      ]);
    });
  });

  const leave = new Error('the client left');
  function start(body: Record<string, unknown>) {
    const client = new AbortController();
    const answer = gateway.postTo(speaks.path, body, {}, client.signal);
    return { answer, hangUp: () => client.abort(leave) };
  }
  const closedEarly = () => gateway.simulator.until(([call]) => call?.closedEarly === true);
  /** The timer that starts when a client leaves a stream. */
  const graceStarts = () => clock.waitsFor((delayMs) => delayMs === streamReadOnMaxMs);

  it('in the middle of a stream is read on for ten seconds, then the provider’s work ends', async () => {
    const { answer, hangUp } = start(hello('acme/endless', { stream: true }));
    await readUntil(await answer, 'and on');
    hangUp();
    await graceStarts();
    clock.advance(streamReadOnMaxMs - 1);
    expect(gateway.simulator.calls.map((call) => call.closedEarly)).toEqual([false]);
    clock.advance(1);
    await closedEarly();
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('before the first output of a stream is read on as long, and no other provider is called', async () => {
    const { answer, hangUp } = start(hello('acme/silent', { stream: true }));
    await gateway.simulator.until((calls) => calls.length === 1);
    hangUp();
    await expect(answer).rejects.toBe(leave);
    await graceStarts();
    clock.advance(streamReadOnMaxMs);
    await closedEarly();
    // A second request behind it shows that the gateway has nothing left to do for the first.
    await (await gateway.post(hello('acme/echo'))).text();
    expect(gateway.simulator.calls.map(({ model }) => model)).toEqual(['silent', 'echo']);
  });

  it('before a JSON answer is waited for until the budget is over, and no other provider is called', async () => {
    const { answer, hangUp } = start(hello('acme/silent'));
    await gateway.simulator.until((calls) => calls.length === 1);
    hangUp();
    await expect(answer).rejects.toBe(leave);
    // Answered after the gateway has seen the connection close.
    await (await gateway.get('/models')).text();
    clock.advance(requestBudgetMs - 10_001);
    expect(gateway.simulator.calls.map((call) => call.closedEarly)).toEqual([false]);
    // From here the other candidate would have its ten seconds; it is not called.
    clock.advance(10_001);
    await closedEarly();
    await (await gateway.post(hello('acme/echo'))).text();
    expect(gateway.simulator.calls.map(({ model }) => model)).toEqual(['silent', 'echo']);
  });

  it('leaves the gateway well', async () => {
    expect(
      brokenWith((await readWhole(await gateway.post(hello('acme/echo', { stream: true })))).text),
    ).toBeUndefined();
    expect(gateway.logLines.filter((line) => /internal_error|finish_failed|body_failed/.test(line))).toEqual([]);
  });
});

describe('a client that leaves a stream with a large image', () => {
  let gateway: Harness;
  const clock = watchedClock();

  beforeAll(async () => {
    gateway = await startHarness({
      clock,
      models: Object.fromEntries(
        spokenInterfaces.map(({ id, api }) => [
          `${id}/endless`,
          [{ provider: api, upstream: 'endless:1', more: { output_price_per_million: '9.00' } }],
        ]),
      ),
      providers: Object.fromEntries(spokenInterfaces.map(({ api }) => [api, { apis: [api] }])),
    });
  });
  afterAll(() => gateway.stop());

  it.each(spokenInterfaces)(
    'pays for the tokens of the image, not for its bytes: $name',
    async ({ id, path, hello, imageOf, smallImageTokens }) => {
      clock.forget();
      gateway.simulator.clear();
      const { spent } = await gateway.credit();
      const messages = [{ role: 'user', content: [imageOf(png(100, 100, 1_000_000))] }];
      const client = new AbortController();
      const answer = await gateway.postTo(
        path,
        hello(`${id}/endless`, { messages, stream: true, max_tokens: 100 }),
        {},
        client.signal,
      );
      await readUntil(answer, 'and on');
      client.abort();
      await clock.waitsFor((delayMs) => delayMs === streamReadOnMaxMs);
      clock.advance(streamReadOnMaxMs);
      await gateway.simulator.until(([call]) => call?.closedEarly === true);
      await gateway.settled();
      // The tokens of the image and a few of text at 1 USD a million, at most 100 of output at 9.
      const cost = (await gateway.credit()).spent - spent;
      expect(cost).toBeGreaterThanOrEqual(smallImageTokens * 1_000_000n);
      expect(cost).toBeLessThan((smallImageTokens + 1_100n) * 1_000_000n);
    },
  );
});

describe('a pooled connection', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        'acme/stale': [{ provider: 'acme', upstream: 'stale-socket' }],
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
        'fresh/refuse-once': [{ provider: 'acme', upstream: 'refuse-once' }],
      },
    });
  });
  afterAll(() => gateway.stop());

  it('that is new and breaks is a failure of the provider, not tried again', async () => {
    const response = await gateway.post(helloChat('fresh/refuse-once'));
    expect(response.status).toBe(502);
    await response.text();
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it.each([false, true])('that died while it was idle is replaced once, unseen: stream %s', async (stream) => {
    await (await gateway.post(helloChat('acme/echo'))).text();
    gateway.simulator.clear();
    const response = await gateway.post(helloChat('acme/stale', { stream, usage: { include: true } }));
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    expect(text).toContain('"attempts":1');
    expect(gateway.simulator.calls.map(({ status }) => status)).toEqual([null, 200]);
  });

  it('serves the next call after every kind of answer', async () => {
    for (let round = 0; round < 3; round += 1) {
      await (await gateway.post(helloChat('acme/echo'))).text();
      await readStream(await gateway.post(helloChat('acme/echo', { stream: true })));
    }
    gateway.simulator.clear();
    // On a pooled connection this one is reset first, which shows that it was pooled.
    await (await gateway.post(helloChat('acme/stale'))).text();
    expect(gateway.simulator.calls).toHaveLength(2);
  });
});
