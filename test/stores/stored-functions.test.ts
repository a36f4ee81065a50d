import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  createFunctionStore,
  type FunctionDocument,
  type FunctionStore,
  openRevision,
  parseFunctionAlias,
} from '../../shared/configuration/stored-functions/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { declared, emptyWorkflow, functionOf, message, refusalOf } from '../support/function-revisions.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';

let database: TestStore;
let functions: FunctionStore;
beforeAll(async () => {
  database = await startTestStore();
  functions = createFunctionStore(database.store);
});
afterAll(() => database.stop());

const nowMs = 1_800_000_000_000;
const dayMs = 86_400_000;
const activated = { state: 'activated' } as const;
const cases = [{ input: 'x', expect: { contains: 'y' } }];
const other = { messages: [message('user', 'Other: {{input}}')] };

/** Returns a new workspace for a test. */
const newWorkspace = (): string => `team-${systemRandomness.uuid().slice(0, 8)}`;

const apply = (workspace: string, document: FunctionDocument, atMs = nowMs) =>
  functions.apply(workspace, document, atMs);

/** Returns which revision a call would get, through the very rule that serves it. */
async function openFunction(workspace: string, alias = 'gw/function/f', atMs = nowMs) {
  const parsed = parseFunctionAlias(alias);
  if (parsed === undefined) throw new Error('the alias of the test is not valid');
  const { revisionId: pinned } = parsed;
  const record = await functions.read(workspace, 'f');
  const revision = record?.revisions.get(pinned ?? record.active ?? '');
  const storedContent = record && revision ? await functions.readContent(record, revision) : undefined;
  const found = record === undefined ? undefined : { record, content: storedContent?.content };
  return openRevision({ executionEnabled: true, found, alias: parsed, knownIds: [], nowMs: atMs });
}

const revisionOf = async (workspace: string, id: string) => (await functions.read(workspace, 'f'))?.revisions.get(id);

async function items(workspace: string): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of database.store.scan('functions')) {
    if (String(item.pk).includes(`#${workspace}#`)) found.push(item);
  }
  return found;
}

const both = [declared('r1', activated), declared('r2', { ...activated, ...other })];

describe('applying a function', () => {
  it('returns every content as it was, in the order in which it was written', async () => {
    const workspace = newWorkspace();
    const schema = { type: 'object', properties: { z: {}, a: {}, __proto__x: {} }, required: ['z'] };
    const revision = declared('r', {
      ...activated,
      options: { temperature: 0.1, seed: 2 ** 53 },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
      input: { type: 'object', schema },
    });
    await apply(workspace, functionOf([revision], { active: 'r' }));
    const { id: _id, state: _state, ...content } = revision;
    const storedContent = (await openFunction(workspace)).content;
    expect(storedContent).toEqual({ kind: 'prompt', ...content });
    expect(JSON.stringify(storedContent)).toContain(JSON.stringify(schema));
  });

  it('refuses a changed content of an activated revision and leaves the function as it was', async () => {
    const workspace = newWorkspace();
    await apply(workspace, functionOf([declared('r1', activated)], { active: 'r1' }));
    const before = await items(workspace);
    const changes = [other, { model: 'auto' }, { options: { temperature: 1 } }, { expires_at: '2030-01-01T00:00:00Z' }];
    for (const change of changes) {
      const changedFunction = functionOf([declared('r0', activated), declared('r1', { ...activated, ...change })], {
        active: 'r0',
      });
      await expect(apply(workspace, changedFunction)).rejects.toThrow(/revision r1 is activated and cannot be changed/);
      await expect(functions.plan(workspace, changedFunction, nowMs)).rejects.toThrow(/revision r1/);
    }
    expect(await items(workspace)).toEqual(before);
  });

  it('takes the fields of an activated revision in another order for the same content', async () => {
    const workspace = newWorkspace();
    const options = { temperature: 0, max_tokens: 5 };
    await apply(workspace, functionOf([declared('r1', { ...activated, options })], { active: 'r1' }));
    const reordered = { max_tokens: 5, temperature: 0 };
    const document = functionOf([declared('r1', { ...activated, options: reordered })], { active: 'r1' });
    expect(await apply(workspace, document)).toBe('unchanged');
  });

  it('refuses an active revision that is not activated, and a function that becomes another kind; a plan writes nothing', async () => {
    const workspace = newWorkspace();
    await expect(apply(workspace, functionOf([declared('r1')], { active: 'r1' }))).rejects.toThrow('not activated');
    expect(await items(workspace)).toEqual([]);
    await functions.plan(workspace, functionOf(both), nowMs);
    expect(await items(workspace)).toEqual([]);
    await apply(workspace, functionOf(both));
    await expect(apply(workspace, emptyWorkflow)).rejects.toThrow('cannot become a workflow');
  });

  it.each<[title: string, change: object, place: RegExp]>([
    ['an input schema', { input: { type: 'object', schema: { type: 'nothing' } } }, /input\.schema.*\/type/],
    [
      'a response schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { pattern: '(' } } } },
      /response_format.*\/pattern/,
    ],
    ['an option', { options: { temperature: 'hot' } }, /options\.temperature: must be a number/],
    ['a case', { cases: [{ input: 'x', expect: { schema: { minimum: 'x' } } }] }, /cases\[0\]\.expect\.schema/],
    ['too much', { messages: [message('system', systemRandomness.bytes(600_000).toString('base64'))] }, /bytes/],
  ])('refuses a revision that no call could use for %s, and writes nothing', async (_title, change, place) => {
    const workspace = newWorkspace();
    const document = functionOf([declared('r0'), declared('r1', change)]);
    await expect(functions.plan(workspace, document, nowMs)).rejects.toThrow(place);
    await expect(apply(workspace, document)).rejects.toThrow(place);
    expect((await items(workspace)).filter(({ pk }) => String(pk).startsWith('FUNCTION#'))).toEqual([]);
  });

  it('takes revisions of any id', async () => {
    const workspace = newWorkspace();
    const ids = ['__proto__', 'constructor', 'toString', '-', '0'];
    await apply(
      workspace,
      functionOf(
        ids.map((id) => declared(id, activated)),
        { active: '__proto__' },
      ),
    );
    expect(await openFunction(workspace)).toMatchObject({ revisionId: '__proto__' });
    expect(await openFunction(workspace, 'gw/function/f@constructor')).toMatchObject({ revisionId: 'constructor' });
    await refusalOf('revision_not_available', () => openFunction(workspace, 'gw/function/f@valueOf'));
  });

  it('at the same time by several gateways ends in the state that all of them wanted', async () => {
    const workspace = newWorkspace();
    const document = functionOf(both, { active: 'r2' });
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => apply(workspace, document)));
    expect(outcomes.toSorted()).toEqual(['created', ...Array(7).fill('unchanged')]);
    expect(await items(workspace)).toHaveLength(3);
  });
});

describe('a function', () => {
  it('keeps every change of several operators at the same time', async () => {
    const workspace = newWorkspace();
    await apply(workspace, functionOf([declared('r1'), declared('r2', other)]));
    await Promise.all([
      functions.activate(workspace, 'f', 'r1', nowMs),
      functions.activate(workspace, 'f', 'r2', nowMs),
      functions.disable(workspace, 'f'),
    ]);
    for (const id of ['r1', 'r2']) expect(await revisionOf(workspace, id)).toMatchObject(activated);
  });

  it('lists its functions, and shows one with all its contents', async () => {
    const workspace = newWorkspace();
    await apply(workspace, functionOf(both));
    await apply(workspace, functionOf([], { id: 'g' }));
    const listedIds: string[] = [];
    for await (const { id } of functions.list(workspace)) listedIds.push(id);
    expect(listedIds.toSorted()).toEqual(['f', 'g']);
    const shownFunction = await functions.show(workspace, 'f');
    expect([...(shownFunction?.contents.keys() ?? [])]).toEqual(['r1', 'r2']);
    expect(shownFunction?.contents.get('r2')).toMatchObject(other);
    expect(await functions.show(workspace, 'none')).toBeUndefined();
  });

  it('is never overwritten by a plan that was made on an older state', async () => {
    const workspace = newWorkspace();
    await apply(workspace, functionOf(both, { active: 'r2' }));
    let writesBetween = 0;
    const interrupted = createFunctionStore({
      ...database.store,
      get: async (table, key, options) => {
        const item = await database.store.get(table, key, options);
        writesBetween += 1;
        await (writesBetween % 2 === 1 ? functions.disable(workspace, 'f') : functions.enable(workspace, 'f'));
        return item;
      },
    } satisfies Store);
    await expect(interrupted.activate(workspace, 'f', 'r1', nowMs)).rejects.toThrow('changed by another writer');
    expect(writesBetween).toBe(64);
    expect(await functions.read(workspace, 'f')).toMatchObject({ active: 'r2', status: 'enabled' });
  });
});

describe('a revision', () => {
  it('without cases is valid for its valid_for from its activation, however often the file is applied', async () => {
    const workspace = newWorkspace();
    const document = (state: 'draft' | 'activated') => functionOf([declared('r1', { state, valid_for: '30d' })]);
    await apply(workspace, document('draft'), nowMs);
    await apply(workspace, document('activated'), nowMs + dayMs);
    await apply(workspace, document('activated'), nowMs + 2 * dayMs);
    expect(await revisionOf(workspace, 'r1')).toMatchObject({ expiresAtMs: nowMs + 31 * dayMs });
  });
});

describe('a revision with test cases', () => {
  const document = (more: object = {}) => functionOf([declared('r1', { cases, valid_for: '2h', ...more })]);

  async function draft() {
    const workspace = newWorkspace();
    await apply(workspace, document());
    const textSha256 = (await revisionOf(workspace, 'r1'))?.textSha256 ?? '';
    const qualify = (atMs = nowMs) => functions.qualify(workspace, 'f', { revisionId: 'r1', textSha256 }, atMs);
    return { workspace, qualify };
  }

  it('that has expired serves again once it is qualified again', async () => {
    const { workspace, qualify } = await draft();
    await qualify();
    await functions.activate(workspace, 'f', 'r1', nowMs);
    await refusalOf('qualification_expired', () => openFunction(workspace, 'gw/function/f', nowMs + 7_200_000));
    await expect(functions.activate(workspace, 'f', 'r1', nowMs + 7_200_000)).rejects.toThrow('has expired');
    await qualify(nowMs + 8_000_000);
    expect(await openFunction(workspace, 'gw/function/f', nowMs + 8_000_000)).toMatchObject({ revisionId: 'r1' });
  });

  it('is what qualification is for: one without cases is refused', async () => {
    const workspace = newWorkspace();
    await apply(workspace, functionOf(both));
    const textSha256 = (await revisionOf(workspace, 'r1'))?.textSha256 ?? '';
    await expect(functions.qualify(workspace, 'f', { revisionId: 'r1', textSha256 }, nowMs)).rejects.toThrow(
      'no cases',
    );
  });

  it('loses its qualification when its draft changes, also between judging and noting', async () => {
    const { workspace, qualify } = await draft();
    await qualify();
    await apply(workspace, document(other));
    expect(await revisionOf(workspace, 'r1')).toMatchObject({ qualifiedAtMs: null, expiresAtMs: null });
    await expect(qualify()).rejects.toThrow('changed while it was being qualified');
    await expect(functions.activate(workspace, 'f', 'r1', nowMs)).rejects.toThrow('not qualified');
  });
});
