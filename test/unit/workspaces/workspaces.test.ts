import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { workspaceSettings } from '../../../shared/configuration/settings/index.ts';
import { applyPreset, mergeWorkspace, type WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';

const workspace = (id: string, more: Partial<WorkspaceDocument> = {}): WorkspaceDocument => ({
  id,
  credit_usd: '25.00',
  spend_limit_usd: null,
  models: 'all',
  data_policy: {},
  function_concurrency: 20,
  features: { byok: false, presets: true },
  presets: [],
  ...more,
});

describe('a workspace that documents change', () => {
  it('has calls of functions limited when it is new, as its form and the command line say', () => {
    const { function_concurrency: limit } = mergeWorkspace(undefined, { id: 'new' });
    const { option, placeholder } = workspaceSettings.function_concurrency;
    expect([option[1], placeholder]).toEqual([
      `its calls of functions in flight; in a new workspace ${limit}`,
      `no limit; ${limit} in a new workspace`,
    ]);
    expect(limit).toBe(20);
  });

  it('keeps its first credit, and the most shards that were ever named, whatever the order of the documents', () => {
    const settings = fc.record({
      credit_usd: fc.constantFrom('0', '1.50', '25.00'),
      credit_shards: fc.option(fc.integer({ min: 1, max: 32 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(settings, { minLength: 1 }), (documents) => {
        let storedDocument: WorkspaceDocument | undefined;
        let most = 1;
        for (const document of documents) {
          const { credit_shards: shards = most } = document;
          const keep = () => mergeWorkspace(storedDocument, workspace('p', document));
          if (shards < most) expect(keep).toThrow(`${most} shards`);
          else storedDocument = keep();
          most = Math.max(most, shards);
          expect([storedDocument?.credit_usd, storedDocument?.credit_shards ?? 1]).toEqual([
            documents[0]?.credit_usd,
            most,
          ]);
        }
      }),
    );
  });

  it('keeps the presets that are not named, and of those that are what is not written', () => {
    const [one, two, three] = ['1', '2', '3'].map((version) => ({ version, config: { temperature: Number(version) } }));
    if (one === undefined || two === undefined || three === undefined) throw new Error('there are three versions');
    const [s, t] = [
      { slug: 's', designated: '1', versions: [one, two] },
      { slug: 't', designated: '1', versions: [one] },
    ];
    const changedPresets = (...presets: NonNullable<Parameters<typeof mergeWorkspace>[1]['presets']>) =>
      mergeWorkspace(workspace('m', { presets: [s, t] }), { id: 'm', presets }).presets;
    expect(changedPresets({ slug: 's', versions: [three] }, { slug: 'new', versions: [three] })).toEqual([
      { ...s, versions: [one, two, three] },
      t,
      { slug: 'new', designated: '3', versions: [three] },
    ]);
    expect(changedPresets({ slug: 's', designated: '2' })).toEqual([{ ...s, designated: '2' }, t]);
    expect(changedPresets({ slug: 't', state: 'absent' })).toEqual([s]);
  });
});

describe('a preset and a request', () => {
  type Json = Record<string, unknown>;

  function merge(config: Json, request: Json = {}, data_policy: WorkspaceDocument['data_policy'] = {}) {
    const presets = [{ slug: 'terse', designated: '1', versions: [{ version: '1', config }] }];
    const before = JSON.stringify([config, request]);
    const appliedPreset = applyPreset(
      { preset: 'terse', ...request },
      workspace('w', { presets, data_policy }),
      'terse',
    );
    if (appliedPreset instanceof GatewayError) throw appliedPreset;
    expect(appliedPreset.body).not.toHaveProperty('preset');
    expect(JSON.stringify([config, request])).toBe(before);
    return appliedPreset;
  }

  it('are merged shallowly, but provider field by field, and null is absent in fields of the gateway alone', () => {
    const preset = { cache: { enabled: true, ttl: 60 }, provider: { sort: 'price', only: ['a'] }, stop: 'x' };
    const sentPreset = { cache: { ttl: 5 }, provider: { sort: 'latency', ignore: ['b'], only: null } };
    expect(merge(preset, sentPreset).body).toEqual({
      cache: { ttl: 5 },
      provider: { sort: 'latency', only: ['a'], ignore: ['b'] },
      stop: 'x',
    });
    const nulls = { cache: null, reasoning: null, provider: null, stop: null };
    expect(merge({ ...preset, reasoning: { effort: 'low' } }, nulls).body).toEqual({
      ...preset,
      reasoning: { effort: 'low' },
      stop: null,
    });
  });

  it('have the field of the request, whatever both hold', () => {
    const names = fc.constantFrom('temperature', 'top_p', 'seed', 'custom', '__proto__', 'toString');
    const members = fc.dictionary(names, fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(members, members, (preset, request) => {
        const { body } = merge(preset, request);
        for (const name of new Set([...Object.keys(preset), ...Object.keys(request)])) {
          const winner = Object.hasOwn(request, name) ? request[name] : preset[name];
          expect(Object.getOwnPropertyDescriptor(body, name)?.value).toBe(winner);
        }
      }),
    );
  });

  it('are held to the data policy of the preset and of the workspace together', () => {
    const policyOf = (preset: Json, dataPolicy: WorkspaceDocument['data_policy']) =>
      merge({ provider: preset }, {}, dataPolicy).workspace.data_policy;
    const both = { zdr: true, data_collection: 'deny', data_residency: ['eu'] } as const;
    const preset = { zdr: true, data_residency: ['eu', 'us'] };
    expect(policyOf(preset, { data_collection: 'deny', data_residency: ['eu'] })).toEqual(both);
    expect(policyOf({ zdr: false, data_collection: 'allow' }, { ...both, data_residency: ['eu'] })).toEqual(both);
    expect(policyOf({ data_collection: 'deny' }, { zdr: true, data_residency: ['eu'] })).toEqual(both);
  });
});
