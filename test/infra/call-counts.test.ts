// Promises and timers of a call: they cost processor time that no time measurement shows on a busy machine. The bound
// only becomes lower: a change that makes fewer lowers it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '#jest';
import { measureGarbage } from '../../infra/bench/sections/garbage.ts';
import { gatewayFileText, newKeys } from '../../infra/bench/test-bed/bench-file.ts';
import { startProvider } from '../../infra/bench/test-bed/provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const promisesMax = 126;
const timersMax = 4;
/** More calls would give the same counts and take longer. */
const countedCalls = 256;

let provider: Awaited<ReturnType<typeof startProvider>>;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider.stop());

it(`a warm relayed JSON call with every limit, one of 32 at once, makes at most ${promisesMax} promises and ${timersMax} timers`, async () => {
  const [folder, keys] = [temporaryFolder(), newKeys()];
  writeFileSync(join(folder, 'gateway.yaml'), gatewayFileText(provider.url, keys));
  const { targets } = await measureGarbage({ folder, keys, countedCalls });
  const measured = (what: string) => Number(targets.find(([name]) => name === `${what} of a call`)?.[2]);
  const [promises, timers] = [measured('promises'), measured('timers')];
  // A smaller number would mean that no call was made.
  expect(promises).toBeGreaterThan(50);
  expect(promises).toBeLessThanOrEqual(promisesMax);
  expect(timers).toBeLessThanOrEqual(timersMax);
});
