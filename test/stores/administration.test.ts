// What operators change, called as a function would: without the command line.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  type AdministrationDependencies,
  addCredit,
  ChangeFailed,
  type ChangeFailure,
  changeFunction,
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
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';

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

/** The failure and the message of a change that is not made. */
async function failureOf(change: Promise<unknown>): Promise<readonly [ChangeFailure, string]> {
  const error = await change.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof ChangeFailed) return [error.failure, error.message];
  throw new Error('the change was made, or failed otherwise', { cause: error });
}

describe('a change that cannot be made', () => {
  const attempts: [string, () => Promise<unknown>, ChangeFailure, RegExp][] = [
    [
      'a key of a workspace that is not there',
      () => createKey(administration, { workspace: 'none', name: 'x' }),
      'absent',
      /no workspace none/,
    ],
    [
      'a key that has ended already',
      () => createKey(administration, { workspace: 'team', name: 'x', expiresAtMs: clock.nowMs() }),
      'invalid',
      /not in the future/,
    ],
    [
      'a key for a model that is not in the catalogue',
      () => createKey(administration, { workspace: 'team', name: 'x', models: ['acme/none'] }),
      'invalid',
      /no model acme\/none/,
    ],
    ['rules of a key that is not there', () => updateKey(administration, 'none', { rpm: 1 }), 'absent', /no key none/],
    [
      'the rotation of a name that no key has',
      () => rotateKey(administration, { workspace: 'team', name: 'none', graceMs: 1 }),
      'absent',
      /no active key none/,
    ],
    [
      'credit beyond what is neither held nor spent',
      () => addCredit(administration, { workspace: 'team', amount: -usd('6'), id: 'too-much' }),
      'insufficient',
      /nothing was taken away: 5 USD/,
    ],
    [
      'a function that is not there',
      () => changeFunction(administration, { workspace: 'team', id: 'none' }, { kind: 'enable' }),
      'absent',
      /no function none/,
    ],
    [
      'a provider before there is a catalogue',
      () => planProviderStatus(administration, 'acme', 'disabled'),
      'absent',
      /apply a gateway file first/,
    ],
  ];
  it.each(attempts)(
    'is told apart by its failure, and writes nothing: %s',
    async (_title, attempt, failure, message) => {
      const before = await readKeys(administration);
      expect(await failureOf(attempt())).toEqual([failure, expect.stringMatching(message)]);
      expect(await readKeys(administration)).toEqual(before);
      expect((await administration.credit.show({ workspace: 'team', spendLimit: null })).available).toBe(usd('5'));
    },
  );

  it('because the store gave no answer is "unanswered", and names the key that may exist', async () => {
    const written: string[] = [];
    const write: AdministrationDependencies['keys']['write'] = async ({ publicId }) => {
      written.push(publicId);
      throw new StoreUnavailable('no answer');
    };
    const cut = { ...administration, keys: { ...administration.keys, write } };
    const creating = createKey(cut, { workspace: 'team', name: 'lost' });
    const [failure, message] = await failureOf(creating);
    expect([failure, message]).toEqual(['unanswered', expect.stringContaining(`should keys list show ${written[0]}`)]);
    expect(written).toHaveLength(1);
  });
});

describe('a rotation', () => {
  /** As it goes where the former key answers so when it is given its end. */
  const rotateWith = async (name: string, replace: AdministrationDependencies['keys']['replace']) => {
    const { publicId } = await createKey(administration, { workspace: 'team', name });
    const cut = { ...administration, keys: { ...administration.keys, replace } };
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

  it('whose last write got no answer hands out the new key and says that the former one may have no end', async () => {
    const { publicId, rotating, keysNow } = await rotateWith('unsure', async () => {
      throw new StoreUnavailable('no answer');
    });
    const rotated = await rotating;
    expect(rotated).toMatchObject({ isFormerEnding: false, former: { publicId, expiresAtMs: null } });
    expect((await keysNow()).map((key) => key.publicId).toSorted()).toEqual([publicId, rotated.publicId].toSorted());
  });
});
