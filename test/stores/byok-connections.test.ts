import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  type ConnectionInFile,
  createConnectionList,
  createConnectionReader,
  createConnectionStore,
  createKeyVault,
  localKeyWrapper,
  readConnection,
} from '../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { createLog } from '../../shared/foundation/log/index.ts';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const wrapper = localKeyWrapper();
const vaultWith = (keys = wrapper) =>
  createKeyVault({ wrapper: keys, stage: 'test', clock: systemClock, randomness: systemRandomness });

interface Watched {
  readonly store: Store;
  readonly puts: () => number;
}

/** Wraps the real store: counts its puts, and runs a test's work between a read and a put. */
function watchedReader(beforePut: () => Promise<unknown> = async () => {}): Watched {
  let count = 0;
  const store: Store = {
    ...database.store,
    put: async (...call) => {
      count += 1;
      await beforePut();
      return database.store.put(...call);
    },
  };
  return { store, puts: () => count };
}

const inFile = (provider: string, more: Partial<ConnectionInFile> = {}): ConnectionInFile => ({
  provider,
  key: { env: `${provider.toUpperCase()}_BYOK` },
  policy: 'always',
  budget_usd: '10.00',
  ...more,
});

let workspaceCount = 0;
const newWorkspace = (): string => {
  workspaceCount += 1;
  return `team-${workspaceCount}`;
};
const newCanary = (): string => `canary.${systemRandomness.uuid()}`;

/** Applies the connections as a gateway file does. */
async function apply(
  id: string,
  connections: readonly ConnectionInFile[],
  variables: Record<string, string>,
  { store = database.store, vault = vaultWith() } = {},
) {
  const read = connections.map((connection) => readConnection(connection, (name) => variables[name]));
  const wantedConnections = read.map((one) => one.wanted);
  const connectionStore = createConnectionStore(store, vault);
  const planned = await connectionStore.plan(id, wantedConnections);
  const changes = await connectionStore.write(id, wantedConnections);
  return { planned, changes, skipped: read.flatMap(({ skippedKey }) => skippedKey ?? []) };
}

const read = (id: string, vault = vaultWith()) => createConnectionStore(database.store, vault).read(id);
const readerWith = (vault = vaultWith()) =>
  createConnectionReader(createConnectionList(database.store, systemClock), vault);
const changesOf = ({ changes }: Awaited<ReturnType<typeof apply>>) => changes.map(({ change }) => change);

describe('the connections of a file', () => {
  it('are stored with policy, exact budget and a key that opens, and no table holds that key in any form', async () => {
    const [id, canary] = [newWorkspace(), newCanary()];
    const both = [inFile('acme', { budget_usd: '10.000000000001' }), inFile('other', { budget_usd: null })];
    const report = await apply(id, both, { ACME_BYOK: canary, OTHER_BYOK: 'second' });
    expect(report).toMatchObject({
      changes: [
        { provider: 'acme', change: 'created' },
        { provider: 'other', change: 'created' },
      ],
      skipped: [],
    });
    expect(inspect(report, { depth: 9 })).not.toContain(canary);
    const storedConnections = await readerWith().connectionsOf(id);
    expect(storedConnections).toMatchObject([
      { workspace: id, provider: 'acme', policy: 'always', budgetPicoUsd: parseUsd('10.000000000001') },
      { workspace: id, provider: 'other', budgetPicoUsd: null },
    ]);
    const [acme] = storedConnections;
    if (acme === undefined) throw new Error('nothing was stored');
    expect(await readerWith().openKey(acme)).toBe(canary);
    const visibleText = (await database.dumpTables()) + inspect(storedConnections, { depth: 9 });
    for (const form of ['utf8', 'base64', 'hex'] as const) {
      expect(visibleText).not.toContain(Buffer.from(canary).toString(form).replace(/=+$/, ''));
    }
  });

  it('change only what differs: a policy or budget leaves the sealed key alone, a new key replaces it', async () => {
    const [id, canary] = [newWorkspace(), newCanary()];
    await apply(id, [inFile('acme')], { ACME_BYOK: 'first' });
    const [before] = await read(id);
    const settings = inFile('acme', { policy: 'allowed', budget_usd: '3' });
    expect(changesOf(await apply(id, [settings], { ACME_BYOK: 'first' }))).toEqual(['changed']);
    const [between] = await read(id);
    expect(between).toMatchObject({ policy: 'allowed', budgetPicoUsd: parseUsd('3'), sealed: before?.sealed });
    expect(changesOf(await apply(id, [settings], { ACME_BYOK: canary }))).toEqual(['changed']);
    const [after] = await read(id);
    expect(after === undefined ? '' : await readerWith().openKey(after)).toBe(canary);
  });

  it('that a file leaves out stay, and so do the fields that it leaves out', async () => {
    const id = newWorkspace();
    await apply(id, [inFile('acme'), inFile('other')], { ACME_BYOK: 'a', OTHER_BYOK: 'b' });
    const before = await read(id);
    const { store, puts } = watchedReader();
    expect(changesOf(await apply(id, [{ provider: 'other' }], {}, { store }))).toEqual(['unchanged']);
    expect(puts()).toBe(0);
    expect(changesOf(await apply(id, [{ provider: 'other', budget_usd: null }], {}))).toEqual(['changed']);
    const [acme, other] = before;
    expect(await read(id)).toEqual([acme, { ...other, budgetPicoUsd: null }]);
  });

  it('that a file says are absent are removed with their keys, others stay', async () => {
    const [id, canary] = [newWorkspace(), newCanary()];
    await apply(id, [inFile('acme'), inFile('other')], { ACME_BYOK: canary, OTHER_BYOK: 'b' });
    const absentEntry = inFile('acme', { state: 'absent' });
    expect(changesOf(await apply(id, [absentEntry], { ACME_BYOK: canary }))).toEqual(['removed']);
    expect((await read(id)).map(({ provider }) => provider)).toEqual(['other']);
    expect(changesOf(await apply(id, [absentEntry], { ACME_BYOK: canary }))).toEqual(['unchanged']);
  });
});

describe('a store that is down', () => {
  it('is reported to a read of connections and to an apply, and nothing is written', async () => {
    const { store: real, puts } = watchedReader();
    const store: Store = { ...real, get: () => Promise.reject(new StoreUnavailable('down')) };
    const list = createConnectionList(store, systemClock);
    await expect(list.connectionsOf(newWorkspace())).rejects.toThrow(StoreUnavailable);
    await expect(createConnectionStore(store, vaultWith()).write(newWorkspace(), [])).rejects.toThrow(StoreUnavailable);
    expect(puts()).toBe(0);
  });
});

describe('a variable that is not set', () => {
  it.each([
    ['missing', {}],
    ['empty', { ACME_BYOK: '' }],
  ])(
    '(%s) is no error: the connection is reported as skipped, and its policy holds without a key',
    async (_title, variables) => {
      const id = newWorkspace();
      const { skipped } = await apply(id, [inFile('acme')], variables);
      expect(skipped).toEqual(['ACME_BYOK is not set']);
      expect(await read(id)).toMatchObject([{ policy: 'always', sealed: undefined }]);
      expect(changesOf(await apply(id, [inFile('acme')], variables))).toEqual(['unchanged']);
    },
  );

  it('leaves a key that was stored earlier in its place', async () => {
    const [id, canary] = [newWorkspace(), newCanary()];
    await apply(id, [inFile('acme')], { ACME_BYOK: canary });
    expect((await apply(id, [inFile('acme')], {})).skipped).toHaveLength(1);
    const [connection] = await read(id);
    expect(connection === undefined ? '' : await readerWith().openKey(connection)).toBe(canary);
  });

  it('is treated as one whose value no header can carry, which is not repeated', async () => {
    const { skipped } = await apply(newWorkspace(), [inFile('acme')], { ACME_BYOK: 'two\nlines' });
    expect(skipped[0]).toContain('ACME_BYOK does not hold');
    expect(skipped[0]).not.toContain('lines');
  });
});

describe('a sealed key', () => {
  it("that was copied into another workspace's item does not open there, and neither log nor error shows it", async () => {
    const [mine, thief, canary] = [newWorkspace(), newWorkspace(), newCanary()];
    await apply(mine, [inFile('acme')], { ACME_BYOK: canary });
    const item = await database.store.get('connections', `WORKSPACE#${mine}`);
    await database.store.put({ table: 'connections', item: { ...item, pk: `WORKSPACE#${thief}` } });
    const reader = readerWith();
    const [connection] = await reader.connectionsOf(mine);
    const [stolen] = await reader.connectionsOf(thief);
    if (connection === undefined || stolen === undefined) throw new Error('nothing was copied');
    expect(await reader.openKey(connection)).toBe(canary);
    const error = await reader.openKey(stolen).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'SealBroken' });
    const lines: string[] = [];
    createLog({ clock: systemClock, write: (line) => lines.push(line) }).error({ event: 'request_failed' }, error);
    expect(lines).toHaveLength(1);
    expect(lines.join() + inspect(error, { depth: 9 })).not.toContain(canary);
  });

  it('whose master key is lost is sealed anew when the file is applied again', async () => {
    const [id, canary] = [newWorkspace(), newCanary()];
    await apply(id, [inFile('acme')], { ACME_BYOK: canary });
    const vault = vaultWith(localKeyWrapper());
    const [lostConnection] = await read(id, vault);
    await expect(lostConnection === undefined ? '' : readerWith(vault).openKey(lostConnection)).rejects.toThrow(
      'does not open',
    );
    expect(changesOf(await apply(id, [inFile('acme')], { ACME_BYOK: canary }, { vault }))).toEqual(['changed']);
    const [anew] = await read(id, vault);
    expect(anew === undefined ? '' : await readerWith(vault).openKey(anew)).toBe(canary);
  });
});

describe('two applies at the same time', () => {
  it('both succeed with the same file, and the second finds the work done', async () => {
    const [id, canary] = [newWorkspace(), newCanary()];
    let others = 0;
    const { store, puts } = watchedReader(async () => {
      others += 1;
      if (others === 1) await apply(id, [inFile('acme')], { ACME_BYOK: canary });
    });
    expect(changesOf(await apply(id, [inFile('acme')], { ACME_BYOK: canary }, { store }))).toEqual(['unchanged']);
    expect(puts()).toBe(1);
    const [storedConnection] = await read(id);
    expect(storedConnection === undefined ? '' : await readerWith().openKey(storedConnection)).toBe(canary);
  });

  it('never mix: the one who always loses gets an error after many tries, without a key in the text', async () => {
    const [id, canary] = [newWorkspace(), newCanary()];
    let others = 0;
    const { store, puts } = watchedReader(async () => {
      others += 1;
      await apply(id, [inFile('acme', { budget_usd: String(others) })], { ACME_BYOK: 'theirs' });
    });
    const failure = await apply(id, [inFile('acme')], { ACME_BYOK: canary }, { store }).catch((error: Error) => error);
    expect(String(failure)).toContain('do it again');
    expect(String(failure)).not.toContain(canary);
    expect(puts()).toBe(64);
    expect(await read(id)).toMatchObject([{ budgetPicoUsd: parseUsd('64') }]);
  });
});
