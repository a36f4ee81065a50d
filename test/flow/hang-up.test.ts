// A client leaves: the gateway goes on reading its provider, and calls no other. Dead sockets are replaced.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { requestBudgetMs, streamReadOnMaxMs } from '../../shared/foundation/constants/index.ts';
import { type Harness, hello as helloChat, startHarness } from '../support/harness.ts';
import { readStream, readUntil, readWhole } from '../support/read-stream.ts';
import { spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';
import { watchedClock } from '../support/watched-clock.ts';

/**
 * Two formats suffice, because the work is the same for all: a relayed format, and a translated one whose stream has
 * frames of its own.
 */
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

  const leave = new Error('the client left');
  function start(body: Record<string, unknown>) {
    const client = new AbortController();
    const answer = gateway.postTo(speaks.path, body, {}, client.signal);
    return { answer, hangUp: () => client.abort(leave) };
  }
  const closedEarly = () => gateway.simulator.until(([call]) => call?.closedEarly === true);
  /** Resolves when the timer starts that a client's leaving starts for a stream. */
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
    // A second request shows that the gateway has nothing left to do for the first request.
    await (await gateway.post(hello('acme/echo'))).text();
    expect(gateway.simulator.calls.map(({ model }) => model)).toEqual(['silent', 'echo']);
  });

  it('before a JSON answer is waited for until the budget is over, and no other provider is called', async () => {
    const { answer, hangUp } = start(hello('acme/silent'));
    await gateway.simulator.until((calls) => calls.length === 1);
    hangUp();
    await expect(answer).rejects.toBe(leave);
    // This request is answered after the gateway has seen the connection close.
    await (await gateway.get('/models')).text();
    clock.advance(requestBudgetMs - 10_001);
    expect(gateway.simulator.calls.map((call) => call.closedEarly)).toEqual([false]);
    // From here on the other candidate would have its ten seconds; the gateway does not call it.
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

  it.each([false, true])('that died while it was idle is replaced once, and counted: stream %s', async (stream) => {
    await (await gateway.post(helloChat('acme/echo'))).text();
    gateway.simulator.clear();
    const response = await gateway.post(helloChat('acme/stale', { stream, usage: { include: true } }));
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    expect(text).toContain('"attempts":2');
    expect(gateway.simulator.calls.map(({ status }) => status)).toEqual([null, 200]);
  });

  it('serves the next call after every kind of answer', async () => {
    for (let round = 0; round < 3; round += 1) {
      await (await gateway.post(helloChat('acme/echo'))).text();
      await readStream(await gateway.post(helloChat('acme/echo', { stream: true })));
    }
    gateway.simulator.clear();
    // On a pooled connection this call is reset first, which shows that the connection was pooled.
    await (await gateway.post(helloChat('acme/stale'))).text();
    expect(gateway.simulator.calls).toHaveLength(2);
  });
});
