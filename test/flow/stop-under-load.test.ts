// Stopping a gateway with hundreds of calls in flight: calls that end by themselves end whole, the rest is cut and
// charged, and later calls elsewhere find every slot free.
import { afterAll, beforeAll, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { readStream } from '../support/read-stream.ts';
import { watchedClock } from '../support/watched-clock.ts';

const calls = 80;
const readPauseMaxMs = 4;
const providers = ['slow:400', 'slow-chunks:40', 'endless:40', 'silent'];
const watchingClock = watchedClock();
/** Pauses between two reads of a stream take no time on this clock, which only the stop needs. */
const clock: typeof watchingClock = {
  ...watchingClock,
  after(delayMs, callback) {
    if (delayMs > readPauseMaxMs) return watchingClock.after(delayMs, callback);
    const soon = setImmediate(callback);
    return () => clearImmediate(soon);
  },
};
const usd = '1000.00';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    clock,
    models: Object.fromEntries(
      [...providers, 'echo'].map((upstream) => [`acme/${upstream.split(':')[0]}`, [{ provider: 'acme', upstream }]]),
    ),
    workspace: { spend_limit_usd: usd },
    // The key allows exactly this number of concurrent calls: a slot that stayed taken would refuse one of the later
    // calls.
    key: { concurrency: calls, rpm: 10 * calls, spend_limit_usd: usd },
  });
});
afterAll(() => gateway.stop());

it('a stop lets calls end, or cuts and charges them to the last cent, and no later call is refused', async () => {
  const stopped = await gateway.open();
  const start = (model: string, stream: boolean) =>
    Array.from({ length: calls / providers.length }, () => stopped.post(hello(`acme/${model}`, { stream })));
  const whole = [...start('slow', false), ...start('slow-chunks', true)];
  const [streams, answers] = [start('endless', true), start('silent', false)];
  await gateway.simulator.until((loggedCalls) => loggedCalls.length === calls);
  await Promise.all(streams);

  const closed = stopped.close();
  await clock.waitsFor((delayMs) => delayMs === 5_000);
  await expect(fetch(`${stopped.url}/models`)).rejects.toThrow('fetch failed');
  for (const [at, response] of (await Promise.all(whole)).entries()) {
    expect(response.status).toBe(200);
    if (at < whole.length / 2) expect(await response.json()).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    else expect((await readStream(response)).text).not.toContain('"error"');
  }
  clock.advance(5_000);
  for (const stream of await Promise.all(streams)) {
    expect((await readStream(stream)).lines.at(-1)).toContain('The gateway was stopped while the call ran');
  }
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe(502);
  await closed;

  expect(await expectBalancedBooks(gateway)).toBeGreaterThan(0n);
  const records = await gateway.records();
  expect(records).toHaveLength(calls);
  const costs = records.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
  expect((await gateway.keyItem()).spent_pico_usd).toBe(Number(costs));

  const following = await Promise.all(Array.from({ length: calls }, () => gateway.post(hello('acme/echo'))));
  expect(following.map(({ status }) => status)).toEqual(new Array(calls).fill(200));
  await Promise.all(following.map((response) => response.text()));
  await gateway.settled();
  await expectBalancedBooks(gateway);
});
