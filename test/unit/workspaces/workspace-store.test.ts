import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  createWorkspaceStore,
  mergeWorkspace,
  type WorkspaceDocument,
} from '../../../shared/configuration/workspaces/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const workspace = (id: string, more: Partial<WorkspaceDocument> = {}): WorkspaceDocument => ({
  id,
  credit_usd: '25.00',
  spend_limit_usd: null,
  models: 'all',
  data_policy: {},
  function_concurrency: 20,
  features: { byok: false, presets: false },
  presets: [],
  ...more,
});

describe('workspaces at rest', () => {
  it('are written once, then only when they change', async () => {
    const { store, writes } = countingWrites(database.store);
    const workspaces = createWorkspaceStore(store);
    expect(await workspaces.read('a')).toBeUndefined();
    expect(await workspaces.write(workspace('a'))).toBe('created');
    expect(await workspaces.write(workspace('a'))).toBe('unchanged');
    expect(writes()).toBe(1);
    expect(await workspaces.write(workspace('a', { models: ['m'] }))).toBe('changed');
    expect(await workspaces.read('a')).toEqual(workspace('a', { models: ['m'] }));
  });

  it('named by any documents in any order keep their first credit, and the most shards that were ever named', () => {
    const written = fc.record({
      credit_usd: fc.constantFrom('0', '1.50', '25.00'),
      credit_shards: fc.option(fc.integer({ min: 1, max: 32 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(written, { minLength: 1 }), (documents) => {
        let stored: WorkspaceDocument | undefined;
        let most = 1;
        for (const document of documents) {
          const { credit_shards: named = most } = document;
          const keep = () => mergeWorkspace(stored, workspace('p', document));
          if (named < most) expect(keep).toThrow(`${most} shards`);
          else stored = keep();
          most = Math.max(most, named);
          expect([stored?.credit_usd, stored?.credit_shards ?? 1]).toEqual([documents[0]?.credit_usd, most]);
        }
      }),
    );
  });
});

describe('what changes leave out', () => {
  const stored = workspace('m', {
    spend_limit_usd: '9',
    models: ['a'],
    data_policy: { zdr: true, data_residency: ['eu'] },
    function_concurrency: 3,
    features: { byok: true, presets: true },
    presets: [
      {
        slug: 's',
        designated: '1',
        versions: [
          { version: '1', config: { temperature: 0 } },
          { version: '2', config: { temperature: 1 } },
        ],
      },
      { slug: 't', designated: '1', versions: [{ version: '1', config: {} }] },
    ],
  });

  it('has its default where the workspace is new', () => {
    expect(mergeWorkspace(undefined, { id: 'new', models: ['a'] })).toEqual({
      id: 'new',
      credit_usd: '0',
      spend_limit_usd: null,
      models: ['a'],
      data_policy: {},
      function_concurrency: 20,
      features: { byok: false, presets: false },
      presets: [],
    });
  });

  it('stays beside what is written, which wins; null takes a limit or a policy away', () => {
    const changes = {
      id: 'm',
      spend_limit_usd: null,
      models: 'all' as const,
      data_policy: { zdr: null, data_collection: 'deny' as const },
      features: { byok: false },
    };
    expect(mergeWorkspace(stored, changes)).toEqual({
      ...stored,
      spend_limit_usd: null,
      models: 'all',
      data_policy: { data_collection: 'deny', data_residency: ['eu'] },
      features: { byok: false, presets: true },
    });
  });

  it('of presets stays too: versions and designated one of those that are named, and the others whole', () => {
    const [s, t] = stored.presets;
    const added = { version: '3', config: { temperature: 2 } };
    const presets = [
      { slug: 's', versions: [added] },
      { slug: 'new', versions: [added] },
    ];
    expect(mergeWorkspace(stored, { id: 'm', presets }).presets).toEqual([
      { ...s, versions: [...(s?.versions ?? []), added] },
      t,
      { slug: 'new', designated: '3', versions: [added] },
    ]);
    const moved = { slug: 's', designated: '2' };
    expect(mergeWorkspace(stored, { id: 'm', presets: [moved] }).presets).toEqual([{ ...s, designated: '2' }, t]);
    const absent = { slug: 't', state: 'absent' as const };
    expect(mergeWorkspace(stored, { id: 'm', presets: [absent] }).presets).toEqual([s]);
  });
});
