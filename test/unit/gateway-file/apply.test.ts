import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { knownProviders } from '../../../infra/local/demo/known-providers.ts';
import { changedMembers } from '../../../shared/configuration/gateway-file/changed-members.ts';
import { completeCatalogue } from '../../../shared/configuration/gateway-file/complete-catalogue.ts';
import {
  ApplyInterrupted,
  type ApplyReport,
  destructiveChanges,
  listDifferences,
  type MemberChange,
  planGatewayFile,
  restoredKeys,
  withListValues,
} from '../../../shared/configuration/gateway-file/index.ts';
import { createApiKey, createKeyStore, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { loadModelList } from '../../../shared/configuration/model-list/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { type Store, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { readmeExamples, wholeExamples } from '../../support/readme-examples.ts';
import { startTestStore, type TestStore } from '../../support/test-store.ts';
import { applyTo, changedResources, planOn, storesOn } from './applying.ts';
import { exampleKey, exampleText, fileOf, spoiled } from './example-file.ts';

let database: TestStore;
beforeEach(async () => {
  database = await startTestStore();
});
afterEach(() => database.stop());

const apply = (text: string, store: Store = database.store): Promise<ApplyReport> => applyTo(store, text);

const keyLine = `{ name: ci, key: ${exampleKey}, rpm: 60, spend_limit_usd: "5.00", status: active }`;
const keys = () => createKeyStore(database.store);
const publicIdOf = (key: string) => parseApiKey(key)?.publicId ?? '';
const functionRecord = () => storesOn(database.store).functionStore.read('team-a', 'classify-ticket');

const catalogueText = exampleText.slice(0, exampleText.indexOf('workspaces:'));
const withWorkspace = (workspaceText: string) => `${catalogueText}workspaces:\n  - ${workspaceText}\n`;

it('a file that is applied twice writes nothing the second time, and one that names others leaves what it made', async () => {
  expect(changedResources(await apply(exampleText))).toEqual([
    'catalogue: created',
    'workspace team-a: created',
    'byok connection to acme of team-a: created',
    'function classify-ticket of team-a: created',
    'key ci of team-a: created',
  ]);
  const { store, writes } = countingWrites(database.store);
  expect(changedResources(await apply(exampleText, store))).toEqual([]);
  expect(writes()).toBe(0);
  expect(changedResources(await apply(withWorkspace('{ id: team-b }')))).toEqual(['workspace team-b: created']);
  expect(changedResources(await apply(exampleText))).toEqual([]);
});

// Applying a file that does not mention a stored object does not remove it.
describe('what a file leaves out', () => {
  it('of the service stays, and has its default if nothing is stored', async () => {
    const service = exampleText.slice(exampleText.indexOf('service:'), exampleText.indexOf('providers:'));
    const without = spoiled(service, '');
    await apply(without);
    const read = async () => (await storesOn(database.store).catalogues.read())?.service;
    expect(await read()).toEqual({ function_execution: 'enabled', function_concurrency: 200, queue_ms: 2_000 });
    await apply(spoiled('function_execution: enabled', 'function_execution: disabled'));
    expect(changedResources(await apply(without))).toEqual([]);
    expect(await read()).toMatchObject({ function_execution: 'disabled' });
  });

  it('of a model’s date is the time of its first application, and what is stored then stays', async () => {
    const undated = exampleText.replaceAll('    created: 1760000000\n', '');
    const createdAt = async () =>
      (await storesOn(database.store).catalogues.read())?.models.map(({ created }) => created);
    await apply(undated);
    expect(await createdAt()).toEqual([1_800_000_000, 1_800_000_000]);
    const later = { nowMs: 1_900_000_000_000, readVariable: () => undefined, randomness: systemRandomness };
    const plan = await planGatewayFile({ ...later, file: fileOf(undated), stores: storesOn(database.store) });
    expect(changedResources(plan)).toEqual([]);
    await apply(exampleText);
    expect(changedResources(await apply(undated))).toEqual([]);
    expect(await createdAt()).toEqual([1_760_000_000, 1_760_000_000]);
  });

  it('of a function stays as commands made it, activated or disabled, until a file says otherwise', async () => {
    const { functionStore } = storesOn(database.store);
    const draft = spoiled('        active: r2\n', '', spoiled('            state: activated\n', ''));
    const silent = draft.replace('        status: enabled\n', '');
    await apply(silent);
    expect(await functionRecord()).toMatchObject({ status: 'enabled', active: null });
    await functionStore.activate('team-a', 'classify-ticket', 'r2', 1_790_000_000_000);
    await functionStore.disable('team-a', 'classify-ticket');
    expect(changedResources(await apply(silent))).toEqual([]);
    expect(await functionRecord()).toMatchObject({ status: 'disabled', active: 'r2' });
    expect(changedResources(await apply(exampleText))).toEqual(['function classify-ticket of team-a: changed']);
    expect(await functionRecord()).toMatchObject({ status: 'enabled', active: 'r2' });
    await apply(spoiled('active: r2', 'active: null'));
    expect(await functionRecord()).toMatchObject({ active: null });
  });

  it('of the rules of a key stays; null or all takes them away', async () => {
    const rules =
      ', expires_at: 2028-01-01, models: [acme/large-1], spend_limit_reset: monthly, tags: { team: search } }';
    await apply(spoiled(keyLine, keyLine.replace(' }', rules)));
    const { store, writes } = countingWrites(database.store);
    expect(changedResources(await apply(exampleText, store))).toEqual([]);
    expect(writes()).toBe(0);
    const none = keyLine.replace(' }', ', expires_at: null, models: all, spend_limit_reset: null, tags: {} }');
    const plan = await planOn(database.store, spoiled(keyLine, none));
    expect(plan.changes.flatMap(({ members }) => members)).toEqual([
      { path: 'spend_limit_reset', from: 'monthly', to: null },
      { path: 'expires_at', from: '2028-01-01T00:00:00.000Z', to: null },
      { path: 'models', from: ['acme/large-1'], to: 'all' },
      { path: 'tags.team', from: 'search' },
    ]);
    await plan.apply();
    expect(await database.store.get('keys', publicIdOf(exampleKey))).toMatchObject({
      ...{ expires_at_ms: null, models: null, spend_limit_reset: null, tags: null },
    });
  });
});

it('a key whose end is in the past when the file gives it is reported, once', async () => {
  const ended = spoiled(keyLine, keyLine.replace(' }', ', expires_at: 2020-01-01 }'));
  const plan = await planOn(database.store, ended);
  const place = /^workspaces\[0\]\.keys\[\d\]\.expires_at is in the past: every call with key \S+ is refused$/;
  expect(plan.notes.filter((note) => place.test(note))).toHaveLength(1);
  await plan.apply();
  expect((await planOn(database.store, ended)).notes.filter((note) => place.test(note))).toEqual([]);
});

it('a function with cases that a file activates can be applied to a fresh store', async () => {
  const cases = 'input: { type: object, schema: { type: object, required: [ticket] } }';
  const text = spoiled(cases, `${cases}\n            cases: [{ input: { ticket: a }, expect: { contains: b } }]`);
  expect(changedResources(await apply(text))).toContain('function classify-ticket of team-a: created');
  expect(await functionRecord()).toMatchObject({ active: 'r2' });
});

describe('a key', () => {
  /** Revokes a key as `gw keys revoke` does. */
  async function revoke(key: string): Promise<void> {
    const record = await keys().read(publicIdOf(key));
    if (record === undefined) throw new Error('there is no such key');
    await keys().write({ ...record, status: 'revoked' });
  }
  /** Returns a store that runs `work` before it writes to a table. */
  const storeThatFirst = (table: string, work: () => Promise<void>): Store => ({
    ...database.store,
    put: async (put) => {
      if (put.table === table) await work();
      return database.store.put(put);
    },
  });

  it('of another workspace is refused at its place, before anything is written', async () => {
    await apply(exampleText);
    const { store, writes } = countingWrites(database.store);
    const movedFile = spoiled('- id: team-a', '- id: team-z').replace('"2.50"', '"9.50"');
    await expect(apply(movedFile, store)).rejects.toThrow('workspaces[0].keys[0].key');
    expect(writes()).toBe(0);
  });

  it('made before the store failed is handed out with the failure', async () => {
    const failing = storeThatFirst('keys', async () => {
      throw new StoreUnavailable('down');
    });
    const failure = await apply(spoiled(keyLine, '{ name: ci }'), failing).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplyInterrupted);
    const { report } = failure as ApplyInterrupted;
    expect(report.createdKeys).toHaveLength(1);
    expect(changedResources(report)).toEqual([
      'catalogue: created',
      'workspace team-a: created',
      'byok connection to acme of team-a: created',
      'function classify-ticket of team-a: created',
    ]);
  });

  it('that was revoked does not come back by its name when another one has it, and nothing is written', async () => {
    const other = createApiKey(systemRandomness);
    await apply(exampleText);
    await revoke(exampleKey);
    await apply(spoiled(exampleKey, other));
    expect(changedResources(await apply(spoiled(keyLine, '{ name: ci, rpm: 7 }')))).toEqual([
      'key ci of team-a: changed',
    ]);
    expect(await keys().read(publicIdOf(exampleKey))).toMatchObject({ status: 'revoked', rpm: 60 });
    await revoke(other);
    const { store, writes } = countingWrites(database.store);
    const text = spoiled('"2.50"', '"9.50"', spoiled(keyLine, '{ name: ci, status: active }'));
    await expect(apply(text, store)).rejects.toThrow('workspaces[0].keys[0].status: 2 keys of this name were revoked');
    expect(writes()).toBe(0);
  });

  it('that the file revokes by its name is the one of that name from then on: the next run changes no older one', async () => {
    for (const rpm of [1, 2, 3]) {
      await apply(spoiled(keyLine, `{ name: ci, rpm: ${rpm}, key: ${createApiKey(systemRandomness)} }`));
      const revokedFile = spoiled(keyLine, `{ name: ci, rpm: ${rpm}0, status: revoked }`);
      expect(changedResources(await apply(revokedFile))).toEqual(['key ci of team-a: changed']);
      const { store, writes } = countingWrites(database.store);
      expect(changedResources(await apply(revokedFile, store))).toEqual([]);
      expect(writes()).toBe(0);
    }
  });

  const keyText = `{ name: ci, key: ${exampleKey}, rpm: 60, spend_limit_usd: "5.00" }`;
  const namedKey = '{ name: ci, rpm: 60, spend_limit_usd: "5.00" }';
  it.each([keyLine, keyText, namedKey])(
    'that is revoked while a file is being applied stays revoked: %#',
    async (line) => {
      await apply(exampleText);
      const text = spoiled('"2.50"', '"2.60"', spoiled(keyLine, line.replace('rpm: 60', 'rpm: 5')));
      expect(
        changedResources(
          await apply(
            text,
            storeThatFirst('config', () => revoke(exampleKey)),
          ),
        ),
      ).toEqual(['catalogue: changed', 'key ci of team-a: changed']);
      expect(await keys().read(publicIdOf(exampleKey))).toMatchObject({ status: 'revoked', rpm: 5 });
    },
  );
});

it('the file with every field can be applied to a fresh store, and twice changes nothing', async () => {
  const text = readFileSync(
    new URL('../../../shared/configuration/gateway-file/every-field.yaml', import.meta.url),
    'utf8',
  );
  const report = await apply(text);
  expect(report.changes.every(({ change }) => change === 'created')).toBe(true);
  expect(changedResources(await apply(text))).toEqual([]);
});

describe('what only the store can tell is refused by its place, and nothing is written', () => {
  const cases: [title: string, text: string, problem: RegExp][] = [
    [
      'an active revision that neither has',
      spoiled('active: r2', 'active: r1'),
      /workspaces\[0\]\.functions\[0\]\.active: .*there is no revision r1 to be active.* there are r2/,
    ],
    [
      'an active revision that is a draft',
      spoiled('            state: activated\n', ''),
      /workspaces\[0\]\.functions\[0\]\.active: .*the active revision r2 is not activated/,
    ],
    [
      'a new connection without a key',
      spoiled('key: { env: ACME_BYOK }, ', ''),
      /workspaces\[0\]\.byok\.connections\[0\]\.key: is required for a new connection/,
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
      `${revision}.options.temperature`,
      `${revision}.response_format`,
    ]);
  });

  it('each with its own path: a changed revision that is activated, and the active one', async () => {
    await apply(exampleText);
    const changedFile = spoiled('model: acme/large-1\n', 'model: auto\n');
    expect(await problemsOf(changedFile)).toEqual(['workspaces[0].functions[0].revisions[0]']);
    expect(await problemsOf(spoiled('active: r2', 'active: r9'))).toEqual(['workspaces[0].functions[0].active']);
  });

  it('but a version and a revision that are stored may be named without being written', async () => {
    await apply(exampleText);
    const workspaceText =
      '{ id: team-a, presets: [{ slug: terse, designated: "1" }], functions: [{ id: classify-ticket, kind: prompt, active: r2 }] }';
    expect(changedResources(await apply(withWorkspace(workspaceText)))).toEqual([]);
  });
});

describe('what a plan says', () => {
  it('names the field of a preset that no call could use', async () => {
    const notesOf = async (config: string) =>
      (await planOn(database.store, spoiled('config: { temperature: 0 }', `config: ${config}`))).notes;
    const place = 'workspaces[0].presets[0].versions[0].config';
    const refusalText = 'calls with this preset are refused';
    expect(await notesOf('{ temperature: hot }')).toContain(`${place}.temperature: must be a number; ${refusalText}`);
    expect(await notesOf('{ provider: { order: [acme, 5] } }')).toContain(
      `${place}.provider.order[1]: must be a text; ${refusalText}`,
    );
    expect((await notesOf('{ provider: { sort: price } }')).join()).not.toContain(refusalText);
  });

  const catalogue = (price: string, ids: readonly string[] = ['a/one', 'b/two']) => ({
    service: { queue_ms: 2000 },
    models: ids.map((id) => ({ id, providers: [{ provider: 'acme', input_price_per_million: price }] })),
  });

  describe('changed fields', () => {
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

  const changeOf = (resource: string, ...members: MemberChange[]) =>
    [{ resource, change: 'changed', members }] as const;

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
      ['key ci of a', { path: 'guardrails', from: ['pii', 'words'], to: ['words'] }, 'guardrail pii of key ci of a'],
      ['workspace a', { path: 'guardrails', from: ['pii'], to: [] }, 'guardrail pii of workspace a'],
      ['workspace a', { path: 'guardrails', from: ['pii'], to: null }, 'guardrail pii of workspace a'],
    ])('is named: %s %j', (resource, member, line) => {
      expect(destructiveChanges(changeOf(resource, member))).toEqual([line]);
    });

    it('is every guardrail of a list that is gone whole', async () => {
      const withGuardrails = (ids: readonly string[]) => {
        const list = ids.map((id) => `{ id: ${id}, kind: http, url: "https://guard.example/${id}" }`);
        return spoiled('workspaces:', `guardrails: [${list.join(', ')}]\nworkspaces:`);
      };
      await apply(withGuardrails(['words', 'pii', 'more']));
      const goneWith = async (ids: readonly string[]) =>
        destructiveChanges((await planOn(database.store, withGuardrails(ids))).changes);
      expect(await goneWith(['words', 'pii'])).toEqual(['guardrails[more] of catalogue']);
      expect(await goneWith([])).toEqual(['words', 'pii', 'more'].map((id) => `guardrails[${id}] of catalogue`));
    });

    it('is a connection that is removed', () => {
      const removed = { resource: 'byok connection to acme of a', change: 'removed', members: [] } as const;
      expect(destructiveChanges([removed])).toEqual(['byok connection to acme of a']);
    });
  });

  it('a plan that makes a revoked key active again names the key', () => {
    const status = (from: string, to: string) => changeOf('key ci of a', { path: 'status', from, to });
    expect(restoredKeys(status('revoked', 'active'))).toEqual(['key ci of a']);
    expect(restoredKeys(status('active', 'revoked'))).toEqual([]);
  });
});

const list = await loadModelList();
const nowMs = Date.parse(list.date);

const parts = readmeExamples.filter((example) => !wholeExamples.includes(example));

it.each(parts.map(({ place, text }) => [place, text] as const))(
  'the part of a gateway file in %s is valid in a file, as it is',
  (_place, text) => {
    const members = Object.keys(parse(text));
    const around = Object.entries({ providers: '[]', models: '[]', workspaces: '[{ id: search }, { id: ads }]' })
      .filter(([name]) => !members.includes(name))
      .map(([name, value]) => `${name}: ${value}\n`);
    const file = fileOf(around.join('') + text) as unknown as Record<string, unknown>;
    expect(members.length).toBeGreaterThan(0);
    // The file has defaults for the other fields.
    expect(file).toMatchObject(parse(text));
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
