// Changes by operators, called as a function calls them, without the command line.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { ManagementDependencies } from '../../functions/operator/dependencies.ts';
import { perform } from '../../functions/operator/perform.ts';
import {
  type AdministrationDependencies,
  addCredit,
  ChangeFailed,
  type ChangeFailure,
  createAdministration,
  createKey,
  planProviderStatus,
  readKeys,
  rotateKey,
  updateKey,
} from '../../shared/configuration/administration/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';

const clock = manualClock(Date.parse('2026-11-20T12:00:00Z'));
const usd = (text: string) => parseUsd(text) ?? 0n;

let database: TestStore;
let administration: AdministrationDependencies;

beforeAll(async () => {
  database = await startTestStore();
  administration = createAdministration({ store: database.store, clock, randomness: systemRandomness });
  await administration.credit.create('team', usd('5'));
  await administration.workspaceStore.write({ id: 'team' });
});
afterAll(() => database.stop());

/** Returns the failure and the message of a change that is not made. */
async function failureOf(change: Promise<unknown>): Promise<readonly [ChangeFailure, string]> {
  const error = await change.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof ChangeFailed) return [error.failure, error.message];
  throw new Error('the change was made, or failed otherwise', { cause: error });
}

describe('changes that several operators make at once', () => {
  /** Returns a separate instance. */
  const instance = () => createAdministration({ store: database.store, clock, randomness: systemRandomness });

  it('of different settings of a key all hold, and undo no rotation that was made meanwhile', async () => {
    const { publicId } = await createKey(administration, { workspace: 'team', name: 'shared', rpm: 1 });
    /** Returns a store that reads the key, and waits with its write until `others` have changed it. */
    const holdingBack = (others: () => Promise<unknown>) => {
      const { keys, ...rest } = instance();
      const update: typeof keys.update = async (...args) => {
        await others();
        return keys.update(...args);
      };
      return { ...rest, keys: { ...keys, update } };
    };
    const late = holdingBack(() => updateKey(instance(), publicId, { spendLimitUsd: '2', concurrency: 4 }));
    await updateKey(late, publicId, { rpm: 9 });
    expect(await administration.keys.read(publicId)).toMatchObject({ rpm: 9, spendLimitUsd: '2', concurrency: 4 });
    let successor: string | undefined;
    const later = holdingBack(async () => {
      successor = (await rotateKey(instance(), { workspace: 'team', name: 'shared', graceMs: 60_000 })).publicId;
    });
    await updateKey(later, publicId, { tags: { team: 'search' } });
    const former = await administration.keys.read(publicId);
    expect(former).toMatchObject({ replacedBy: successor, expiresAtMs: clock.nowMs() + 60_000, rpm: 9 });
    expect(former?.tags).toEqual({ team: 'search' });
  });

  it('are found again in the key that a rotation has made meanwhile', async () => {
    const { publicId } = await createKey(administration, { workspace: 'team', name: 'turning', rpm: 1 });
    const { keys, ...rest } = instance();
    const rotate: typeof keys.rotate = async (...args) => {
      await updateKey(instance(), publicId, { rpm: 7 });
      return keys.rotate(...args);
    };
    const rotating = { ...rest, keys: { ...keys, rotate } };
    const rotation = await rotateKey(rotating, { workspace: 'team', name: 'turning', graceMs: 60_000 });
    const replacement = await administration.keys.read(rotation.publicId);
    expect(replacement).toMatchObject({
      name: 'turning',
      status: 'active',
      rpm: 7,
      expiresAtMs: null,
      replacedBy: null,
    });
  });

  it('of the credit are listed so that they add up to what was granted, with one that died on its way, and after 30 days', async () => {
    const owner = instance();
    const shownAdditions = async () => {
      const additions = await owner.credit.additions('told');
      const { granted } = await owner.credit.show({ workspace: 'told', spendLimit: null });
      expect(additions.reduce((sum, { amount }) => sum + amount, 0n)).toBe(granted);
      return additions.map(({ id, amount }) => [id, amount]);
    };
    await administration.workspaceStore.write({ id: 'told' });
    expect(await owner.credit.additions('told')).toEqual([]);
    await owner.credit.create('told', usd('5'));
    expect(await shownAdditions()).toEqual([[null, usd('5')]]);
    const add = (id: string, amount: bigint) => addCredit(owner, { workspace: 'told', amount, id });
    await add('a', usd('2'));
    // The addition is noted, but its process died before the amount reached the credit.
    const underWay = { entry: 'addition#b', amount: usd('1'), shards: 1, number: 2 };
    const noted = { 'addition#b': { amount: usd('1'), at_ms: clock.nowMs() }, addition_number: 2 };
    const changes = { set: { ...noted, addition_out: underWay } };
    await database.store.update({ table: 'ledger', key: 'ADDITIONS#told', changes, repeatable: true });
    expect(await shownAdditions()).toEqual([
      ['a', usd('2')],
      [null, usd('5')],
    ]);
    clock.advance(31 * 86_400_000);
    await add('c', -usd('3'));
    expect(await shownAdditions()).toEqual([
      ['c', -usd('3')],
      [null, usd('8')],
    ]);
    expect(await shownAdditions()).not.toContainEqual(['a', usd('2')]);
  });
});

describe('a change that cannot be made', () => {
  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'the rotation of a name that no key has',
      () => rotateKey(administration, { workspace: 'team', name: 'none', graceMs: 1 }),
      /no active key none/,
    ],
    [
      'the status of a provider before there is a catalogue',
      () => planProviderStatus(administration, 'acme', 'disabled'),
      /apply a gateway file first/,
    ],
  ])('because what it is of is not there is "absent", and writes nothing: %s', async (_title, attempt, message) => {
    const before = await readKeys(administration);
    expect(await failureOf(attempt())).toEqual(['absent', expect.stringMatching(message)]);
    expect(await readKeys(administration)).toEqual(before);
  });

  it('because the store gave no answer is "unanswered", and names the key that may exist', async () => {
    const writtenNames: string[] = [];
    const write: AdministrationDependencies['keys']['write'] = async ({ publicId }) => {
      writtenNames.push(publicId);
      throw new StoreUnavailable('no answer');
    };
    const cut = { ...administration, keys: { ...administration.keys, write } };
    const creating = createKey(cut, { workspace: 'team', name: 'lost' });
    const [failure, message] = await failureOf(creating);
    expect([failure, message]).toEqual([
      'unanswered',
      expect.stringContaining(`should keys list show ${writtenNames[0]}`),
    ]);
    expect(writtenNames).toHaveLength(1);
    // The change is made here, but the read for its answer fails.
    const read: AdministrationDependencies['keys']['read'] = async () => {
      throw new StoreUnavailable('no answer');
    };
    const unread = { ...administration, keys: { ...administration.keys, read } } as ManagementDependencies;
    const [reason, advice] = await failureOf(
      perform(unread, 'POST /keys', { body: { workspace: 'team', name: 'made' } }),
    );
    const newId = (await readKeys(administration)).find(({ name }) => name === 'made')?.publicId;
    expect([reason, advice]).toEqual([
      'unanswered',
      expect.stringContaining(`should keys list show ${newId}, revoke it`),
    ]);
  });
});

describe('a rotation', () => {
  /** Runs a rotation with this store function. */
  const rotateWith = async (name: string, rotate: AdministrationDependencies['keys']['rotate']) => {
    const { publicId } = await createKey(administration, { workspace: 'team', name });
    const cut = { ...administration, keys: { ...administration.keys, rotate } };
    const rotating = rotateKey(cut, { workspace: 'team', name, graceMs: 1_000 });
    const keysNow = async () => (await readKeys(administration)).filter((key) => key.name === name);
    return { publicId, rotating, keysNow };
  };

  it('that another one was faster than is a "conflict" and leaves no second key that works', async () => {
    const { publicId, rotating, keysNow } = await rotateWith('raced', async () => false);
    expect(await failureOf(rotating)).toEqual(['conflict', expect.stringContaining('at the same moment')]);
    const active = (await keysNow()).filter(({ status }) => status === 'active');
    expect(active.map((key) => key.publicId)).toEqual([publicId]);
  });

  it('whose write got no answer is "unanswered", ends no text before its time, and may be made again', async () => {
    const { publicId, rotating, keysNow } = await rotateWith('unsure', async (...args) => {
      await administration.keys.rotate(...args);
      throw new StoreUnavailable('no answer');
    });
    const [reason, advice] = await failureOf(rotating);
    const newId = (await keysNow()).find((key) => key.publicId !== publicId)?.publicId;
    expect([reason, advice]).toEqual([
      'unanswered',
      expect.stringContaining(`should keys list show ${newId}, rotate it again`),
    ]);
    const again = await rotateKey(administration, { workspace: 'team', name: 'unsure', graceMs: 1_000 });
    expect(again.former.publicId).toBe(newId);
    expect((await keysNow()).map((key) => [key.publicId, key.expiresAtMs, key.replacedBy])).toEqual([
      [again.publicId, null, null],
      [newId, clock.nowMs() + 1_000, again.publicId],
      [publicId, clock.nowMs() + 1_000, again.publicId],
    ]);
  });
});
