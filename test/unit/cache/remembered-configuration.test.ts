// What an instance remembers of its configuration: for as long as it is fresh, and never old while the store is down.
import { describe, expect, it } from '#jest';
import { createConnectionList, createConnectionReader } from '../../../shared/configuration/byok/index.ts';
import { createWorkspaceReader, mergeWorkspace } from '../../../shared/configuration/workspaces/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { vaultOn } from '../../support/watched-wrapper.ts';

type Fetch = <Value>(key: string, value: Value) => Promise<Value>;
type Clock = ReturnType<typeof manualClock>;

const connection = { provider: 'acme', policy: 'always', budget_usd: null };
/** Reads what belongs to a workspace, through `fetch`. */
const readers: readonly (readonly [string, (fetch: Fetch, clock: Clock) => (workspace: string) => Promise<unknown>])[] =
  [
    [
      'stored connections',
      (fetch, clock) => {
        const store = { get: (_table: string, key: string) => fetch(key, { connections: [connection] }) };
        return createConnectionReader(createConnectionList(store, clock), vaultOn()).connectionsOf;
      },
    ],
    [
      'a workspace',
      (fetch, clock) =>
        createWorkspaceReader({ clock, workspaces: { read: (id) => fetch(id, mergeWorkspace(undefined, { id })) } })
          .read,
    ],
  ];

describe.each(readers)('%s', (_what, readerOf) => {
  function remembering() {
    const clock = manualClock();
    const reads: string[] = [];
    const state = { isDown: false };
    const read = readerOf(async (key, value) => {
      reads.push(key);
      if (state.isDown) throw new StoreUnavailable('down');
      return value;
    }, clock);
    return { clock, reads, state, read };
  }

  it('costs one read while it is fresh, for any number of callers, and one after that', async () => {
    const { clock, reads, read } = remembering();
    await Promise.all([read('a'), read('a'), read('a')]);
    clock.advance(configFreshMs - 1);
    await read('a');
    expect(reads).toHaveLength(1);
    clock.advance(1);
    await read('a');
    expect(reads).toHaveLength(2);
  });

  it('is never served old while the store is down, and a failure is not remembered', async () => {
    const { clock, state, read } = remembering();
    const first = await read('a');
    clock.advance(configFreshMs);
    state.isDown = true;
    await expect(read('a')).rejects.toThrow(StoreUnavailable);
    state.isDown = false;
    expect(await read('a')).toEqual(first);
  });

  it('is forgotten where that of many others was used since', async () => {
    const { reads, read } = remembering();
    for (let index = 0; index <= cachedWorkspacesMax; index += 1) await read(`w${index}`);
    await read('w1');
    expect(reads).toHaveLength(cachedWorkspacesMax + 1);
    await read('w0');
    expect(reads).toHaveLength(cachedWorkspacesMax + 2);
  });
});

it('a workspace that is not there is an error, and a connection without a key cannot be opened', async () => {
  const clock = manualClock();
  const workspaces = createWorkspaceReader({ clock, workspaces: { read: async () => undefined } });
  await expect(workspaces.read('missing')).rejects.toThrow('does not exist');
  const store = { get: async () => undefined };
  const connections = createConnectionReader(createConnectionList(store, clock), vaultOn());
  const bare = { workspace: 'a', provider: 'acme', policy: 'always', budgetPicoUsd: null, sealed: undefined } as const;
  await expect(connections.openKey(bare)).rejects.toMatchObject({ name: 'SealBroken' });
});
