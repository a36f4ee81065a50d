import { beforeEach, describe, expect, it } from '#jest';
import { type Connection, createConnectionReader } from '../../../shared/configuration/byok/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { vaultOn } from './support.ts';

let reads: string[];
let isDown: boolean;
let clock: ReturnType<typeof manualClock>;
beforeEach(() => {
  reads = [];
  isDown = false;
  clock = manualClock();
});

const connectionIn = (workspace: string): Connection => ({
  workspace,
  provider: 'acme',
  policy: 'always',
  budgetPicoUsd: null,
  sealed: undefined,
});

const connections = {
  read: async (workspace: string) => {
    reads.push(workspace);
    if (isDown) throw new StoreUnavailable('down');
    return [connectionIn(workspace)];
  },
};
const reader = () => createConnectionReader({ connections, vault: vaultOn(), clock });

describe('the connections an instance remembers', () => {
  it('cost one read while they are fresh, for any number of callers, and one after that', async () => {
    const remembering = reader();
    await Promise.all([remembering.connectionsOf('a'), remembering.connectionsOf('a')]);
    clock.advance(configFreshMs - 1);
    expect(await remembering.connectionsOf('a')).toEqual([connectionIn('a')]);
    expect(reads).toEqual(['a']);
    clock.advance(1);
    await remembering.connectionsOf('a');
    expect(reads).toEqual(['a', 'a']);
  });

  it('are never served old while the store is down, and a failure is not remembered', async () => {
    const remembering = reader();
    await remembering.connectionsOf('a');
    clock.advance(configFreshMs);
    isDown = true;
    await expect(remembering.connectionsOf('a')).rejects.toThrow(StoreUnavailable);
    isDown = false;
    expect(await remembering.connectionsOf('a')).toHaveLength(1);
  });

  it('are bounded: the workspace that was used longest ago is forgotten', async () => {
    const remembering = reader();
    for (let index = 0; index <= cachedWorkspacesMax; index += 1) await remembering.connectionsOf(`w${index}`);
    await remembering.connectionsOf('w1');
    expect(reads).toHaveLength(cachedWorkspacesMax + 1);
    await remembering.connectionsOf('w0');
    expect(reads).toHaveLength(cachedWorkspacesMax + 2);
  });

  it('without a key cannot be opened', async () => {
    await expect(reader().openKey(connectionIn('a'))).rejects.toMatchObject({ name: 'SealBroken' });
  });
});
