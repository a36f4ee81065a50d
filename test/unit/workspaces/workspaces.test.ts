import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  applyPreset,
  createWorkspaceStore,
  mergeWorkspace,
  type WorkspaceDocument,
} from '../../../shared/configuration/workspaces/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { readChatRequest } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { makePlan } from '../../../shared/routing/planner/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { catalogueOf, entryOf, factsOf, modelOf, providerOf } from '../../support/planning.ts';

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

describe('presets', () => {
  type Json = Record<string, unknown>;

  const workspaceWith = (
    configs: Record<string, Json>,
    more: Partial<WorkspaceDocument> = {},
    designated = '1',
  ): WorkspaceDocument => ({
    id: 'team-a',
    credit_usd: '0',
    spend_limit_usd: null,
    models: 'all',
    data_policy: {},
    function_concurrency: null,
    features: { byok: false, presets: true },
    presets: [
      {
        slug: 'terse',
        designated,
        versions: Object.entries(configs).map(([version, config]) => ({ version, config })),
      },
    ],
    ...more,
  });

  const messages = [{ role: 'user', content: 'Hello' }];
  const body = (more: Json = {}): Json => ({ model: 'm', messages, preset: 'terse', ...more });

  function merged(config: Json, request: Json = {}): Json {
    const applied = applyPreset(body(request), workspaceWith({ '1': config }), 'terse');
    if (applied instanceof GatewayError) throw applied;
    return applied.body;
  }

  describe('a preset', () => {
    const versions = workspaceWith({ '1': { temperature: 0.1 }, '2': { temperature: 0.2 } }, {}, '2');

    it('that was not asked for changes nothing: body and workspace are the very same', () => {
      const [sent, off] = [body(), { ...versions, features: { byok: false, presets: false } }];
      const applied = applyPreset(sent, off, undefined);
      expect(applied).toMatchObject({ kind: 'none' });
      expect([(applied as { body: Json }).body, (applied as { workspace: unknown }).workspace]).toEqual([sent, off]);
    });

    it('that is no valid part of a request is refused as such, even where the request hides the mistake', () => {
      const broken = workspaceWith({ '1': { provider: { zdr: 'yes' } } });
      const refused = applyPreset(body({ provider: { zdr: false } }), broken, 'terse');
      expect(refused).toMatchObject({ code: 'invalid_request' });
      expect((refused as GatewayError).message).toContain('preset is not valid: provider.zdr');
    });
  });

  describe('the merged body', () => {
    it('is merged shallowly, but provider member by member: no sort of the request drops an only of the preset', () => {
      const preset = { cache: { enabled: true, ttl: 60 }, provider: { sort: 'price', only: ['a'] } };
      expect(merged(preset, { cache: { ttl: 5 }, provider: { sort: 'latency', ignore: ['b'] } })).toEqual({
        model: 'm',
        messages,
        cache: { ttl: 5 },
        provider: { sort: 'latency', only: ['a'], ignore: ['b'] },
      });
      expect(merged(preset, { provider: { only: 'c', sort: null } }).provider).toEqual({ sort: 'price', only: 'c' });
    });

    it('takes null of a gateway member for absent, and null of any other for a value', () => {
      const preset = { cache: { enabled: true }, reasoning: { effort: 'low' }, provider: { zdr: true }, stop: 'x' };
      const nulls = { cache: null, reasoning: null, provider: null, stop: null };
      expect(merged(preset, nulls)).toMatchObject({ ...preset, stop: null });
    });

    it('never holds the preset, and leaves what was sent and what is stored as they were', () => {
      const [sent, config] = [body({ provider: { sort: 'price' } }), { provider: { zdr: true } }];
      const before = JSON.stringify([sent, config]);
      const applied = applyPreset(sent, workspaceWith({ '1': config }), 'terse');
      expect(applied).toMatchObject({ body: { provider: { sort: 'price', zdr: true } } });
      expect((applied as { body: Json }).body).not.toHaveProperty('preset');
      expect(JSON.stringify([sent, config])).toBe(before);
    });

    it('wins for the request member by member, whatever both hold', () => {
      const names = fc.constantFrom('temperature', 'top_p', 'seed', 'custom', '__proto__', 'toString');
      const members = fc.dictionary(names, fc.double({ noNaN: true, noDefaultInfinity: true }));
      fc.assert(
        fc.property(members, members, (preset, request) => {
          const result = merged(preset, request);
          for (const name of new Set([...Object.keys(preset), ...Object.keys(request)])) {
            const winner = Object.hasOwn(request, name) ? request[name] : preset[name];
            expect(Object.getOwnPropertyDescriptor(result, name)?.value).toBe(winner);
          }
        }),
      );
    });
  });

  // Every combination of declarations over two regions, as a provider of its own.
  const declarations = [true, undefined].flatMap((zdr) =>
    (['deny', 'allow'] as const).flatMap((data_collection) =>
      [['eu'], ['us'], ['eu', 'us'], undefined].map((data_residency) => ({ zdr, data_collection, data_residency })),
    ),
  );
  const catalogue = catalogueOf(
    [modelOf('m', { providers: declarations.map((_declared, index) => entryOf(`p${index}`)) })],
    declarations.map((data_policy, index) => providerOf(`p${index}`, { data_policy })),
  );

  function plan(
    presetProvider: Json,
    requestProvider: Json | undefined,
    data_policy: WorkspaceDocument['data_policy'],
  ) {
    const workspace = workspaceWith({ '1': { provider: presetProvider } }, { data_policy });
    const sent = body(requestProvider === undefined ? {} : { provider: requestProvider });
    const applied = applyPreset(sent, workspace, 'terse');
    if (applied instanceof GatewayError) return applied;
    const request = readChatRequest(applied.body);
    if (request instanceof GatewayError) return request;
    return makePlan(request, { ...factsOf(catalogue), workspace: applied.workspace });
  }

  describe('a data policy of a preset', () => {
    it('holds together with those of workspace and request for every provider that is chosen', () => {
      const policies = fc.record(
        {
          zdr: fc.boolean(),
          data_collection: fc.constantFrom('allow' as const, 'deny' as const),
          data_residency: fc.subarray(['eu', 'us'], { minLength: 1 }),
        },
        { requiredKeys: [] },
      );
      fc.assert(
        fc.property(policies, fc.option(policies, { nil: undefined }), policies, (preset, request, enforced) => {
          const found = plan(preset, request, enforced);
          if (found instanceof GatewayError) {
            expect(['data_policy_loosening_forbidden', 'no_policy_compliant_provider']).toContain(found.code);
            return;
          }
          for (const { provider } of found) {
            for (const policy of [preset, request ?? {}, enforced]) {
              const declared = provider.data_policy;
              if (policy.zdr === true) expect(declared.zdr).toBe(true);
              if (policy.data_collection === 'deny') expect(declared.data_collection).toBe('deny');
              const allowed = policy.data_residency;
              if (allowed !== undefined) {
                expect(declared.data_residency?.every((region) => allowed.includes(region))).toBe(true);
              }
            }
          }
        }),
        { numRuns: 500 },
      );
    });
  });
});
