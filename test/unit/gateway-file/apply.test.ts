import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import {
  type ApplyReport,
  destructiveChanges,
  planGatewayFile,
} from '../../../shared/configuration/gateway-file/index.ts';
import { createKeyStore, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { applyTo, changed, creditOn, planOn, storesOn } from './applying.ts';
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

  it('with a changed price changes only the catalogue', async () => {
    await apply(exampleText);
    expect(changed(await apply(spoiled('"2.50"', '"2.60"')))).toEqual(['catalogue: changed']);
  });

  it('with a changed limit of a key changes only that key', async () => {
    await apply(exampleText);
    expect(changed(await apply(spoiled('rpm: 60,', 'rpm: 61,')))).toEqual(['key ci of team-a: changed']);
    expect(changed(await apply(spoiled('status: active', 'status: revoked')))).toEqual(['key ci of team-a: changed']);
    const publicId = parseApiKey(exampleKey)?.publicId ?? '';
    expect(await createKeyStore(database.store).read(publicId)).toMatchObject({ status: 'revoked', rpm: 60 });
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

const creditLine = 'credit_usd: "25.00"';
const withShards = (shards: number, text = exampleText) =>
  spoiled(creditLine, `${creditLine}\n    credit_shards: ${shards}`, text);

const usd = (amount: string) => parseUsd(amount) ?? 0n;
const nowMs = 1_800_000_000_000;
const newHold = (owner: string, amount: string) => ({ owner, amount: usd(amount), expiresAtMs: nowMs + 70_000 });

/** What the ledger is asked when a call of the workspace is admitted. */
async function accountOf(workspace: string) {
  const document = await storesOn(database.store).workspaceStore.read(workspace);
  return { workspace, spendLimit: null, shards: document?.credit_shards };
}

/** A call that meets the last of four shards empty: half of the credit moves there when it ends. */
async function spreadCredit(workspace: string): Promise<void> {
  const toTheLast = { ...systemRandomness, fraction: () => 0.99 };
  const ledger = creditOn(database.store, toTheLast);
  const take = await ledger.take(await accountOf(workspace), newHold('first', '1'));
  if (take.kind !== 'taken') throw new Error('there is credit');
  await ledger.giveBack(take.hold);
  const last = await database.store.get('ledger', `CREDIT#${workspace}#3`);
  expect(last).toMatchObject({ balance_pico_usd: 12_500_000_000_000 });
}

describe('the credit shards of a workspace', () => {
  it('stay when a file names no number: all the credit in them can still be spent, and nothing is written', async () => {
    await applyTo(database.store, withShards(4));
    await spreadCredit('team-a');
    const { store, writes } = countingWrites(database.store);
    expect(changed(await applyTo(store, exampleText))).toEqual([]);
    expect(writes()).toBe(0);
    const { credit } = storesOn(database.store);
    const account = await accountOf('team-a');
    expect(await credit.show(account)).toMatchObject({ granted: usd('25'), available: usd('25') });
    expect(await credit.take(account, newHold('all', '25'))).toMatchObject({ kind: 'taken' });
  });

  it('never become fewer: the file is refused before anything of it is written, and by its dry run', async () => {
    await applyTo(database.store, withShards(4));
    await spreadCredit('team-a');
    const cheaper = spoiled('"2.50"', '"2.40"', withShards(3));
    const text = spoiled('workspaces:', 'workspaces:\n  - { id: another, keys: [{ name: new }] }', cheaper);
    const { store, writes } = countingWrites(database.store);
    const refusal = 'workspace team-a has its credit in 4 shards, and the file says credit_shards: 3';
    await expect(planOn(store, text)).rejects.toThrow(refusal);
    await expect(applyTo(store, text)).rejects.toThrow(refusal);
    expect(writes()).toBe(0);
    expect(changed(await applyTo(store, withShards(4)))).toEqual([]);
    expect(await storesOn(store).workspaceStore.read('another')).toBeUndefined();
  });
});

// Nothing stored is lost by applying a file that says nothing about it.
const catalogueText = exampleText.slice(0, exampleText.indexOf('workspaces:'));
const withWorkspace = (written: string) => `${catalogueText}workspaces:\n  - ${written}\n`;
const publicId = parseApiKey(exampleKey)?.publicId ?? '';
const keyItem = () => database.store.get('keys', publicId);
const functionRecord = () => storesOn(database.store).functionStore.read('team-a', 'classify-ticket');

describe('what a file leaves out', () => {
  it.each([
    ['all of a workspace but its id', '{ id: team-a }'],
    ['all members of its parts', '{ id: team-a, data_policy: {}, features: {}, keys: [], presets: [], functions: [] }'],
    [
      'all members of its entries',
      '{ id: team-a, presets: [{ slug: terse }], byok: { connections: [{ provider: acme }] } }',
    ],
    ['all of a function but its id and kind', '{ id: team-a, functions: [{ id: classify-ticket, kind: prompt }] }'],
  ])('stays as it is stored: %s', async (_title, written) => {
    await applyTo(database.store, exampleText);
    const { store, writes } = countingWrites(database.store);
    expect(changed(await applyTo(store, withWorkspace(written)))).toEqual([]);
    expect(writes()).toBe(0);
  });

  it('stays beside what it changes', async () => {
    await applyTo(database.store, exampleText);
    const before = await storesOn(database.store).workspaceStore.read('team-a');
    const text = withWorkspace('{ id: team-a, spend_limit_usd: "7", features: { byok: true } }');
    expect(changed(await applyTo(database.store, text))).toEqual(['workspace team-a: changed']);
    expect(await storesOn(database.store).workspaceStore.read('team-a')).toEqual({
      ...before,
      spend_limit_usd: '7',
      features: { byok: true, presets: true },
    });
    expect(await keyItem()).toMatchObject({ status: 'active', requests_per_minute: 60 });
  });

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

  it('all of them at once', async () => {
    const text = spoiled('designated: "1"', 'designated: "2"', spoiled('active: r2', 'active: r1'));
    expect(await problemsOf(text)).toHaveLength(2);
  });

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
