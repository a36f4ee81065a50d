// How often a process writes the results of providers.
import { describe, expect, it } from '#jest';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { hello, startHarness } from '../support/harness.ts';
import { eventually } from '../support/watched-clock.ts';
import { aroundStore } from '../support/wrapped-store.ts';

describe.each([
  ['that many calls share, on a store where each write costs something', false, 0],
  ['whose store joins what a turn writes', true, 3],
] as const)('a process %s', (_name, joinsWrites, atOnce) => {
  it(`writes the statistics of calls that come one after the other ${joinsWrites ? 'with each' : 'once a second'}`, async () => {
    let writes = 0;
    const waiting = new Set<() => void>();
    const harness = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
    const gateway = await harness.open({
      joinsWrites,
      clock: {
        nowMs: systemClock.nowMs,
        after(delayMs, callback) {
          if (delayMs !== 1_000) return systemClock.after(delayMs, callback);
          waiting.add(callback);
          return () => waiting.delete(callback);
        },
      },
      wrapStore: (store) =>
        aroundStore(store, (call, run) => {
          if (call.key.startsWith('COUNTERS')) writes += 1;
          return run();
        }),
    });
    for (let n = 0; n < 3; n += 1) await (await gateway.post(hello('acme/echo'))).text();
    const settlement = gateway.settled();
    // The record of a call is written after its statistics, or after they have begun to wait.
    await eventually(async () => (await harness.records()).length === 3);
    if (joinsWrites) await settlement;
    expect(writes).toBe(atOnce);
    for (const callback of waiting) callback();
    await settlement;
    expect(writes).toBe(atOnce === 0 ? 1 : atOnce);
    await harness.stop();
  });
});
