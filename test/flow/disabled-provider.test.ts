// An operator disables a provider: every process knows it within five seconds, by one small read however many calls it
// has.
import { expect, it } from '#jest';
import { planProviderStatus } from '../../shared/configuration/administration/index.ts';
import { cataloguePointerItem } from '../../shared/foundation/constants/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { hello, startHarness } from '../support/harness.ts';
import { aroundStore } from '../support/wrapped-store.ts';

const readProvider = async (answer: Response) =>
  ((await answer.json()) as { usage: { provider: string } }).usage.provider;

it('a provider that was disabled gets no call after five seconds, and a process reads once in that time, whatever it serves', async () => {
  let nowMs = systemClock.nowMs();
  const clock = { ...systemClock, nowMs: () => nowMs };
  const entries = ['acme', 'globex'].map((provider) => ({ provider, upstream: 'echo' }));
  const harness = await startHarness({ clock, models: { 'acme/echo': entries } });
  let reads = 0;
  const busy = await harness.open({
    clock,
    wrapStore: (store) =>
      aroundStore(store, (call, run) => {
        if (call.table === 'config' && call.key === cataloguePointerItem.key) reads += 1;
        return run();
      }),
  });
  const serve = async (calls: number) => {
    harness.simulator.clear();
    const answers = await Promise.all(Array.from({ length: calls }, () => busy.post(hello('acme/echo'))));
    const providers = await Promise.all(answers.map(readProvider));
    return [...new Set(providers)];
  };
  expect(await serve(30)).toEqual(['acme']);
  await (await planProviderStatus(harness.composition, 'acme', 'disabled')).write();
  reads = 0;
  nowMs += 5_000;
  for (const _again of [1, 2]) expect(await serve(30)).toEqual(['globex']);
  nowMs += 4_999;
  expect(await serve(30)).toEqual(['globex']);
  expect(reads).toBe(1);
  await harness.stop();
});
