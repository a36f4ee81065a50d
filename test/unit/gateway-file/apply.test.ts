import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { knownProviders } from '../../../infra/local/demo/known-providers.ts';
import { changedMembers } from '../../../shared/configuration/gateway-file/changed-members.ts';
import { completeCatalogue } from '../../../shared/configuration/gateway-file/complete-catalogue.ts';
import {
  type ApplyReport,
  destructiveChanges,
  listDifferences,
  type MemberChange,
  planGatewayFile,
  restoredKeys,
  withListValues,
} from '../../../shared/configuration/gateway-file/index.ts';
import { parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { loadModelList } from '../../../shared/configuration/model-list/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { readmeExamples, wholeExamples } from '../../support/readme-examples.ts';
import { applyTo, changed, planOn, storesOn } from './applying.ts';
import { exampleKey, exampleText, fileOf, spoiled } from './example-file.ts';

let database: TestStore;
beforeEach(async () => {
  database = await startTestStore();
});
afterEach(() => database.stop());

const apply = (text: string, store: Store = database.store): Promise<ApplyReport> => applyTo(store, text);

describe('applying a file', () => {
  it('twice writes nothing the second time', async () => {
    const report = await apply(exampleText);
    expect(changed(report)).toEqual([
      'catalogue: created',
      'workspace team-a: created',
      'byok connection to acme of team-a: created',
      'function classify-ticket of team-a: created',
      'key ci of team-a: created',
    ]);
    const { store, writes } = countingWrites(database.store);
    expect(changed(await apply(exampleText, store))).toEqual([]);
    expect(writes()).toBe(0);
  });

  it('leaves workspaces and keys alone that it does not name', async () => {
    await apply(exampleText);
    const other = exampleText.slice(0, exampleText.indexOf('workspaces:'));
    expect(changed(await apply(`${other}workspaces: [{ id: team-b }]`))).toEqual(['workspace team-b: created']);
    const stores = storesOn(database.store);
    expect(await stores.workspaceStore.read('team-a')).toBeDefined();
    expect(await stores.keys.read(parseApiKey(exampleKey)?.publicId ?? '')).toBeDefined();
  });
});

// Nothing stored is lost by applying a file that says nothing about it.
const catalogueText = exampleText.slice(0, exampleText.indexOf('workspaces:'));
const withWorkspace = (written: string) => `${catalogueText}workspaces:\n  - ${written}\n`;
const functionRecord = () => storesOn(database.store).functionStore.read('team-a', 'classify-ticket');

describe('what a file leaves out', () => {
  it('of the service stays, and has its default where nothing is stored', async () => {
    const service = exampleText.slice(exampleText.indexOf('service:'), exampleText.indexOf('providers:'));
    const without = spoiled(service, '');
    await applyTo(database.store, without);
    const read = async () => (await storesOn(database.store).catalogues.read())?.service;
    expect(await read()).toEqual({ function_execution: 'enabled', function_concurrency: 200, queue_ms: 2_000 });
    await applyTo(database.store, spoiled('function_execution: enabled', 'function_execution: disabled'));
    expect(changed(await applyTo(database.store, without))).toEqual([]);
    expect(await read()).toMatchObject({ function_execution: 'disabled' });
  });

  it('of providers and models is taken away: they are described whole, and the plan says so', async () => {
    await applyTo(database.store, exampleText);
    const small = exampleText.indexOf('  - id: acme/small-1');
    const text = `${exampleText.slice(0, small)}workspaces: []\n`;
    expect(destructiveChanges((await planOn(database.store, text)).changes)).toEqual([
      'models[acme/small-1] of catalogue',
    ]);
  });
});

describe('the date of a model that the file does not write', () => {
  const undated = exampleText.replaceAll('    created: 1760000000\n', '');
  const createdAt = async () =>
    (await storesOn(database.store).catalogues.read())?.models.map(({ created }) => created);

  it('is that of its first application, and stays', async () => {
    await applyTo(database.store, undated);
    expect(await createdAt()).toEqual([1_800_000_000, 1_800_000_000]);
    const later = { nowMs: 1_900_000_000_000, readVariable: () => undefined, randomness: systemRandomness };
    const plan = await planGatewayFile({ ...later, file: fileOf(undated), stores: storesOn(database.store) });
    expect(changed(plan)).toEqual([]);
    await plan.apply();
    expect(await createdAt()).toEqual([1_800_000_000, 1_800_000_000]);
  });

  it('is the stored one where a file wrote it before', async () => {
    await applyTo(database.store, exampleText);
    expect(changed(await applyTo(database.store, undated))).toEqual([]);
    expect(await createdAt()).toEqual([1_760_000_000, 1_760_000_000]);
  });
});

describe('a function', () => {
  const draft = spoiled('        active: r2\n', '', spoiled('            state: activated\n', ''));

  it('that was activated by command stays in service when a file without its states is applied again', async () => {
    await applyTo(database.store, draft);
    expect(await functionRecord()).toMatchObject({ status: 'enabled', active: null });
    await storesOn(database.store).functionStore.activate('team-a', 'classify-ticket', 'r2', 1_790_000_000_000);
    expect(changed(await applyTo(database.store, draft))).toEqual([]);
    expect(await functionRecord()).toMatchObject({ status: 'enabled', active: 'r2' });
  });

  it('that was disabled by command stays disabled until a file says enabled', async () => {
    const silent = spoiled('        status: enabled\n', '');
    await applyTo(database.store, silent);
    await storesOn(database.store).functionStore.disable('team-a', 'classify-ticket');
    expect(changed(await applyTo(database.store, silent))).toEqual([]);
    expect(await functionRecord()).toMatchObject({ status: 'disabled' });
    expect(changed(await applyTo(database.store, exampleText))).toEqual([
      'function classify-ticket of team-a: changed',
    ]);
    expect(await functionRecord()).toMatchObject({ status: 'enabled' });
  });

  it('is out of service by active: null, which the plan says it takes away', async () => {
    await applyTo(database.store, exampleText);
    const text = spoiled('active: r2', 'active: null');
    expect(destructiveChanges((await planOn(database.store, text)).changes)).toEqual([
      'active revision r2 of function classify-ticket of team-a',
    ]);
    await applyTo(database.store, text);
    expect(await functionRecord()).toMatchObject({ active: null });
  });

  it('with cases that a file activates can be applied to a fresh store', async () => {
    const cases = 'input: { type: object, schema: { type: object, required: [ticket] } }';
    const text = spoiled(cases, `${cases}\n            cases: [{ input: { ticket: a }, expect: { contains: b } }]`);
    expect(changed(await applyTo(database.store, text))).toContain('function classify-ticket of team-a: created');
    expect(await functionRecord()).toMatchObject({ active: 'r2' });
  });
});

it('the annotated example of the README can be applied to a fresh store, and twice changes nothing', async () => {
  const readme = readFileSync(new URL('../../../shared/configuration/gateway-file/README.md', import.meta.url), 'utf8');
  const text = /```yaml\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const report = await applyTo(database.store, text);
  expect(report.changes.every(({ change }) => change === 'created')).toBe(true);
  expect(changed(await applyTo(database.store, text))).toEqual([]);
});

describe('what only the store can tell is refused by its place, and nothing is written', () => {
  const cases: [title: string, text: string, problem: RegExp][] = [
    [
      'a designated version that neither has',
      spoiled('designated: "1"', 'designated: "2"'),
      /workspaces\[0\]\.presets\[0\]\.designated: there is no version "2" .*known are 1/,
    ],
    [
      'an active revision that neither has',
      spoiled('active: r2', 'active: r1'),
      /workspaces\[0\]\.functions\[0\]: .*there is no revision r1 to be active.* there are r2/,
    ],
    [
      'an active revision that is a draft',
      spoiled('            state: activated\n', ''),
      /workspaces\[0\]\.functions\[0\]: .*the active revision r2 is not activated/,
    ],
    [
      'a new connection without a key',
      spoiled('key: { env: ACME_BYOK }, ', ''),
      /workspaces\[0\]\.byok\.connections\[0\]\.key: is required for a new connection/,
    ],
    [
      'a new preset without a version',
      spoiled(
        '{ slug: terse, versions: [ { version: "1", config: { temperature: 0 } } ], designated: "1" }',
        '{ slug: new }',
      ),
      /workspaces\[0\]\.presets\[0\]\.versions: is required for a new preset/,
    ],
  ];

  it.each(cases)('%s', async (_title, text, problem) => {
    const { store, writes } = countingWrites(database.store);
    await expect(applyTo(store, text)).rejects.toThrow(problem);
    expect(writes()).toBe(0);
  });

  const problemsOf = async (text: string): Promise<string[]> => {
    const refusal = await planOn(database.store, text).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'GatewayFileRefused' });
    return (refusal as { problems: { path: string }[] }).problems.map(({ path }) => path);
  };

  it('each with its own path: what no call could use of a revision', async () => {
    const unusableFormat = '{ type: json_schema, json_schema: { name: n, schema: { type: nothing } } }';
    const message = '{ role: user, content: "{{input}}" }';
    const text = `${spoiled('designated: "1"', 'designated: "2"')}
          - id: r3
            model: acme/large-1
            messages: [ ${message} ]
            options: { temperature: hot }
            response_format: ${unusableFormat}
            input: { type: object, schema: { type: nothing } }
`;
    const revision = 'workspaces[0].functions[0].revisions[1]';
    expect(await problemsOf(text)).toEqual([
      'workspaces[0].presets[0].designated',
      `${revision}.input.schema`,
      `${revision}.options`,
      `${revision}.response_format`,
    ]);
  });

  it('but a version and a revision that are stored may be named without being written', async () => {
    await applyTo(database.store, exampleText);
    const written =
      '{ id: team-a, presets: [{ slug: terse, designated: "1" }], functions: [{ id: classify-ticket, kind: prompt, active: r2 }] }';
    expect(changed(await applyTo(database.store, withWorkspace(written)))).toEqual([]);
  });
});

describe('what a plan says', () => {
  const catalogue = (price: string, ids: readonly string[] = ['a/one', 'b/two']) => ({
    service: { queue_ms: 2000 },
    models: ids.map((id) => ({ id, providers: [{ provider: 'acme', input_price_per_million: price }] })),
  });

  describe('changed members', () => {
    it('tell a new and a lost entry of a list from renamed ones', () => {
      const changes = changedMembers(catalogue('1.00', ['a/one', 'b/two']), catalogue('1.00', ['c/three', 'b/two']));
      expect(changes.map(({ path, ...sides }) => [path, Object.keys(sides)])).toEqual([
        ['models[a/one]', ['from']],
        ['models[c/three]', ['to']],
      ]);
    });

    it('show that entries changed places: order decides between equal prices', () => {
      expect(changedMembers(catalogue('1.00'), catalogue('1.00', ['b/two', 'a/one']))).toEqual([
        { path: 'models (order)', from: ['a/one', 'b/two'], to: ['b/two', 'a/one'] },
      ]);
    });
  });

  const changed = (resource: string, ...members: MemberChange[]) => [{ resource, change: 'changed', members }] as const;

  describe('what a plan takes away', () => {
    it.each<[string, MemberChange, string]>([
      ['catalogue', { path: 'models[acme/large-1]', from: {} }, 'models[acme/large-1] of catalogue'],
      ['catalogue', { path: 'providers[acme]', from: {} }, 'providers[acme] of catalogue'],
      [
        'catalogue',
        { path: 'service.function_execution', from: 'enabled', to: 'disabled' },
        'service.function_execution of catalogue is disabled',
      ],
      ['workspace a', { path: 'presets[terse]', from: {} }, 'presets[terse] of workspace a'],
      ['workspace a', { path: 'features.byok', from: true, to: false }, 'features.byok of workspace a is off'],
      ['key ci of a', { path: 'status', from: 'active', to: 'revoked' }, 'key ci of a is revoked'],
      ['function f of a', { path: 'status', from: 'enabled', to: 'disabled' }, 'function f of a is disabled'],
      ['function f of a', { path: 'active', from: 'r2', to: null }, 'active revision r2 of function f of a'],
    ])('is named: %s %j', (resource, member, line) => {
      expect(destructiveChanges(changed(resource, member))).toEqual([line]);
    });

    it('is a connection that is removed', () => {
      const removed = { resource: 'byok connection to acme of a', change: 'removed', members: [] } as const;
      expect(destructiveChanges([removed])).toEqual(['byok connection to acme of a']);
    });
  });

  it('a plan that makes a revoked key active again names the key', () => {
    const status = (from: string, to: string) => changed('key ci of a', { path: 'status', from, to });
    expect(restoredKeys(status('revoked', 'active'))).toEqual(['key ci of a']);
    expect(restoredKeys(status('active', 'revoked'))).toEqual([]);
  });
});

const list = await loadModelList();
const nowMs = Date.parse(list.date);

const parts = readmeExamples.filter((example) => !wholeExamples.includes(example));

it.each(parts.map(({ place, text }) => [place, text] as const))(
  'the part of a gateway file in %s is one of a file, as it stands',
  (_place, text) => {
    const members = Object.keys(parse(text));
    const around = 'providers: []\nmodels: []\nworkspaces: [{ id: search }, { id: ads }]\n';
    const file = fileOf(around + text) as unknown as Record<string, unknown>;
    expect(members.length).toBeGreaterThan(0);
    for (const member of members) expect(file[member]).toEqual(parse(text)[member]);
  },
);

it('every model of the demo is in the list, with prices and features', () => {
  const models = knownProviders.flatMap(({ models }) => models);
  const text = JSON.stringify({ providers: knownProviders.map(({ provider }) => provider), models });
  const { document, issues } = completeCatalogue(fileOf(text), { former: undefined, list, region: undefined, nowMs });
  expect(issues).toEqual([]);
  for (const { providers } of document.models) expect(providers[0]?.input_price_per_million).not.toBe('0.00');
});

it('a stored price that is not that of the list is a difference, and the list can be taken over', () => {
  const text =
    'providers: [{ id: openai, kind: openai }]\nmodels: [{ id: openai/gpt-5, providers: [{ provider: openai, input_price_per_million: "9" }] }]';
  const { document } = completeCatalogue(fileOf(text), { former: undefined, list, region: undefined, nowMs });
  expect(listDifferences(document, list)).toEqual([
    {
      model: 'openai/gpt-5',
      provider: 'openai',
      member: 'input_price_per_million',
      stored: '9',
      listed: '1.25',
      isWritten: true,
    },
  ]);
  const updated = withListValues(document, list, () => true);
  expect(listDifferences(updated, list)).toEqual([]);
  expect(updated.models[0]?.providers[0]).toMatchObject({ input_price_per_million: '1.25', written: [] });
});
