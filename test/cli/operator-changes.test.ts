// A start with a gateway file applies what the file changed since its last apply, and keeps what operators changed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { type StartOptions, startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { createAdministration, createOperator } from '../../shared/configuration/administration/index.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { keySettings, type SettingRows, workspaceSettings } from '../../shared/configuration/settings/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { asOperator } from '../support/operator-requests.ts';
import { type SettingPart, samples, valueAt, withValue } from '../support/setting-samples.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';
import { operate } from './operator.ts';

// biome-ignore lint/suspicious/noExplicitAny: a gateway file, which each test changes.
type File = any;

let folder: string;
let data: string;
let tables: TestStore;
const running: Awaited<ReturnType<typeof startLocalGateway>>[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  data = join(folder, 'data');
  tables = await startTestStore(data);
});
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
  await tables.stop();
});

const pathOf = (name: string) => join(folder, name);
function write(file: File, name = 'gateway.yaml'): string {
  writeFileSync(pathOf(name), stringify(file));
  return pathOf(name);
}

async function start(options: Partial<StartOptions> = {}) {
  const lines: string[] = [];
  const defaults = { port: 0, config: pathOf('gateway.yaml'), data, dynamodb: undefined, log: 'off' as const };
  const gateway = await startLocalGateway({ ...defaults, ...options }, (line) => lines.push(line));
  running.push(gateway);
  const stores = createAdministration({ store: tables.store, clock: systemClock, randomness: systemRandomness });
  const console = asOperator(gateway, (await createOperator(stores, `ada-${systemRandomness.uuid()}`)).text);
  const stop = async () => {
    running.splice(running.indexOf(gateway), 1);
    await gateway.stop();
  };
  return { lines, console, stop, url: gateway.url };
}

type Started = Awaited<ReturnType<typeof start>>;

const exportedFile = async ({ console }: Started): Promise<File> => parse((await console.get('/configuration')).body);

async function changeConfiguration(started: Started, change: (file: File) => void): Promise<void> {
  const { body, response } = await started.console.get('/configuration');
  const file = parse(body);
  change(file);
  const headers = { 'if-match': response.headers.get('etag') ?? '' };
  const { status } = await started.console.send('PUT', '/configuration', stringify(file), headers);
  expect(status).toBe(200);
}

/** Returns the lines that a start prints about its file. */
const startNotes = ({ lines }: Started) =>
  lines.filter((line) => /^(adds|changes|takes away): |differ|stays revoked|refuse/.test(line));

const differing = (count: number) =>
  `note: ${count === 1 ? '1 setting differs' : `${count} settings differ`} from ${pathOf('gateway.yaml')}, as operators changed the store: npm run gw -- apply -f ${pathOf('gateway.yaml')} --dry-run --data ${data} names them, and --reapply sets them as in the file`;

const entry = (provider: string, price = '1') => ({
  provider,
  upstream_model: 'echo',
  input_price_per_million: price,
  output_price_per_million: '2',
  context_length: 8_000,
});
const provider = (id: string, more: object = {}) => ({
  id,
  base_url: `http://127.0.0.1:9/${id}`,
  auth: 'none',
  ...more,
});
const smallFile = (more: object = {}): File => ({
  providers: [provider('acme', { status: 'enabled' })],
  models: ['acme/small', 'acme/large'].map((id) => ({ id, providers: [entry('acme')] })),
  workspaces: [
    { id: 'team', credit_usd: '5', spend_limit_usd: '90', keys: [{ name: 'ci', rpm: 60, status: 'active' }] },
  ],
  ...more,
});

const rowsOf = (rows: SettingRows) =>
  Object.entries(rows).map(([name, { kind }]) => ({ name, absent: null, ...samples[kind] }));
const slug = (name: string) => name.replaceAll(/[._]/g, '-');

describe('settings', () => {
  const models = [{ id: 'acme/small', providers: [entry('acme')] }];
  const guardrails = ['words', 'names'].map((id) => ({ id, kind: 'http', url: 'https://guard.example/check' }));
  const keyRows = rowsOf(keySettings);
  const workspaceRows = rowsOf(workspaceSettings);
  const everySetting: File = {
    providers: [provider('acme')],
    models,
    guardrails,
    workspaces: [
      {
        id: 'team',
        content_log: { keep: '90d' },
        keys: keyRows.map(({ name, value }) => ({ name: slug(name), [name]: value })),
      },
      ...workspaceRows.map(({ name, value }) => ({ id: slug(name), ...withValue(name, value) })),
    ],
  };
  const settingsIn = (file: File) => [
    ...keyRows.map(({ name }) => {
      const key = file.workspaces
        .find(({ id }: { id: string }) => id === 'team')
        .keys.find((one: SettingPart) => one.name === slug(name));
      return [`key ${name}`, key[name] ?? null];
    }),
    ...workspaceRows.map(({ name }) => [
      `workspace ${name}`,
      valueAt(
        file.workspaces.find(({ id }: { id: string }) => id === slug(name)),
        name,
      ),
    ]),
  ];

  it('of keys and workspaces that were changed in the console stay, each of them, and are counted; --reapply sets them back', async () => {
    write(everySetting);
    const first = await start();
    const settingsBefore = settingsIn(await exportedFile(first));
    const keys: SettingPart[] = (await first.console.get('/keys?limit=200')).body.data;
    const changedParts: unknown[] = [];
    for (const { name, absent } of keyRows) {
      const key = keys.find((one) => one.name === slug(name));
      changedParts.push((await first.console.send('PATCH', `/keys/${key?.public_id}`, { [name]: absent })).body);
    }
    const none: SettingPart = { guardrails: null };
    for (const { name, absent } of workspaceRows) {
      // The limit itself is never null; its group is.
      const part = name === 'member_keys.max' ? { member_keys: null } : withValue(name, none[name] ?? absent);
      changedParts.push((await first.console.send('PATCH', `/workspaces/${slug(name)}`, part)).body);
    }
    expect(changedParts.filter((answer) => !Object.hasOwn(answer as object, 'data'))).toEqual([]);
    const settingsAfter = settingsIn(await exportedFile(first));
    for (const [at, [name, value]] of settingsAfter.entries())
      expect([name, value]).not.toEqual([name, settingsBefore[at]?.[1]]);
    await first.stop();

    const again = await start();
    expect(settingsIn(await exportedFile(again))).toEqual(settingsAfter);
    expect(startNotes(again)).toEqual([differing(settingsAfter.length)]);
    await again.stop();

    const reapplied = await start({ reapply: true });
    expect(settingsIn(await exportedFile(reapplied))).toEqual(settingsBefore);
    expect(startNotes(reapplied)).toHaveLength(settingsAfter.length);
    expect(startNotes(reapplied).every((line) => line.startsWith('changes: '))).toBe(true);
  });
});

describe('a start with a file that did not change', () => {
  it('keeps a provider that is off, a key that is revoked, models, prices, access and guardrails of operators', async () => {
    write(smallFile({ access: [{ email: 'ada@example.com', role: 'owner', workspaces: 'all' }] }));
    const first = await start();
    const [{ public_id }] = (await first.console.get('/keys')).body.data;
    await changeConfiguration(first, (file) => {
      file.providers[0].first_chunk_timeout_ms = 1_234;
      file.providers.push(provider('globex'));
      file.models = [
        { ...file.models[0], providers: [...file.models[0].providers, entry('globex')] },
        { id: 'globex/new', providers: [entry('globex')] },
      ];
      file.models[0].providers[0].input_price_per_million = '1.5';
      file.guardrails = [{ id: 'words', kind: 'http', url: 'https://guard.example/check' }];
      file.access = [{ email: 'vera@example.com', role: 'viewer', workspaces: 'all' }];
    });
    await first.console.send('POST', '/providers/acme/disable');
    await first.console.send('PATCH', `/keys/${public_id}`, { status: 'revoked' });
    const exportBefore = await exportedFile(first);
    expect(exportBefore.models.map(({ id }: { id: string }) => id)).toEqual(['acme/small', 'globex/new']);
    await first.stop();

    const again = await start();
    expect(await exportedFile(again)).toEqual(exportBefore);
    expect(startNotes(again)).toEqual([
      'note: key ci of team was revoked and stays revoked',
      expect.stringMatching(/^note: \d+ settings differ from /),
    ]);
    const dryRun = await operate(`apply -f ${pathOf('gateway.yaml')} --dry-run --data ${data} --json`);
    const changes: { change: string; members: unknown[] }[] = JSON.parse(dryRun.out).changes;
    const differences = changes.flatMap(({ change, members }) => (change === 'unchanged' ? [] : [members.length || 1]));
    const count = differences.reduce((sum, one) => sum + one, 0);
    expect(startNotes(again)[1]).toBe(differing(count));
  });

  it('keeps an active revision, and prints nothing if no operator changed anything', async () => {
    const revision = (id: string) => ({
      id,
      state: 'activated',
      model: 'acme/small',
      messages: [{ role: 'user', content: '{{input}}' }],
    });
    const functions = [{ id: 'label', kind: 'prompt', active: 'r1', revisions: [revision('r1'), revision('r2')] }];
    write(smallFile({ workspaces: [{ id: 'team', functions }] }));
    const first = await start();
    await first.stop();
    const second = await start();
    expect(startNotes(second)).toEqual([]);
    await second.console.send('POST', '/functions/team/label/activate', { revision: 'r2' });
    await second.stop();
    const third = await start();
    const [label] = (await third.console.get('/functions')).body.data;
    expect(label.active).toBe('r2');
    expect(startNotes(third)).toEqual([differing(1)]);
  });
});

describe('a start with a file that changed', () => {
  it('applies what changed, a line each, and keeps the rest as operators left it', async () => {
    write(smallFile());
    const first = await start();
    const [{ public_id }] = (await first.console.get('/keys')).body.data;
    await first.console.send('PATCH', `/keys/${public_id}`, { rpm: 7 });
    await first.console.send('PATCH', '/workspaces/team', { spend_limit_usd: '50' });
    await changeConfiguration(first, (file) => {
      file.models[0].providers[0].input_price_per_million = '1.5';
    });
    await first.stop();
    const changedFile = smallFile();
    changedFile.models = [
      { id: 'acme/small', providers: [{ ...entry('acme'), output_price_per_million: '4' }] },
      { id: 'acme/third', providers: [entry('acme')] },
    ];
    changedFile.workspaces[0].spend_limit_usd = '80';
    changedFile.workspaces[0].keys[0].tpm = 1_000;
    write(changedFile);
    const again = await start();
    expect(startNotes(again)).toEqual([
      'changes: catalogue: models[acme/small].providers[acme].output_price_per_million: "2" → "4"',
      'takes away: models[acme/large] of catalogue',
      'adds: models[acme/third] of catalogue',
      'changes: workspace team: spend_limit_usd: "50" → "80"',
      'changes: key ci of team: tpm: null → 1000',
      differing(2),
    ]);
    const file = await exportedFile(again);
    expect(file.models.map(({ id }: { id: string }) => id)).toEqual(['acme/small', 'acme/third']);
    expect(file.models[0].providers[0]).toMatchObject({
      input_price_per_million: '1.5',
      output_price_per_million: '4',
    });
    expect(file.workspaces[0]).toMatchObject({ spend_limit_usd: '80', keys: [{ rpm: 7, tpm: 1_000 }] });
  });

  it('removes the entries of operators with a provider that the file removes', async () => {
    write(smallFile({ providers: [provider('acme'), provider('globex')] }));
    const first = await start();
    await changeConfiguration(first, (file) => {
      file.models[0].providers.push(entry('globex'));
      file.models.push({ id: 'globex/new', providers: [entry('globex')] });
    });
    await first.stop();
    write(smallFile({ providers: [provider('acme')] }));
    const again = await start();
    const models: File[] = (await exportedFile(again)).models;
    expect(models.map(({ id, providers }) => [id, providers.length])).toEqual([
      ['acme/small', 1],
      ['acme/large', 1],
    ]);
    expect(startNotes(again)).toEqual([
      'takes away: providers[globex] of catalogue',
      'takes away: models[acme/small].providers[globex] of catalogue',
      'takes away: models[globex/new] of catalogue',
    ]);
  });
});

describe('gw apply', () => {
  const apply = (path: string) => operate(`apply -f ${path} --data ${data} --yes`);
  const rpmOf = async (started: Started) => (await exportedFile(started)).workspaces[0].keys[0].rpm;
  const withRpm = (rpm: number) =>
    smallFile({ workspaces: [{ id: 'team', credit_usd: '5', keys: [{ name: 'ci', rpm }] }] });

  it.each([
    ['of the file of the starts', 'gateway.yaml'],
    ['of another file', 'other.yaml'],
  ])('%s is kept by the next start, with what was changed in the console since', async (_of, name) => {
    write(withRpm(60));
    const first = await start();
    expect((await apply(write(withRpm(120), name))).code).toBe(0);
    expect(await rpmOf(first)).toBe(120);
    await first.stop();
    const second = await start();
    expect(await rpmOf(second)).toBe(120);
    const [{ public_id }] = (await second.console.get('/keys')).body.data;
    await second.console.send('PATCH', `/keys/${public_id}`, { rpm: 7 });
    await second.stop();
    const third = await start();
    expect(await rpmOf(third)).toBe(7);
    expect(startNotes(third)).toEqual([differing(1)]);
  });
});

describe('the file that is kept', () => {
  it('holds no text of a key; one that the file replaces is a new key, and a revoked one stays revoked', async () => {
    const [former, next] = [newKey(), newKey()];
    const withKey = (key: string) => smallFile({ workspaces: [{ id: 'team', keys: [{ name: 'ci', key, rpm: 5 }] }] });
    write(withKey(former));
    const first = await start();
    expect(await tables.dumpTables()).not.toContain(former);
    const publicId = parseApiKey(former)?.publicId;
    await first.console.send('PATCH', `/keys/${publicId}`, { status: 'revoked' });
    await first.stop();
    const again = await start();
    expect(startNotes(again)[0]).toBe('note: key ci of team was revoked and stays revoked');
    await again.stop();
    write(withKey(next));
    const third = await start();
    const keys: SettingPart[] = (await third.console.get('/keys')).body.data;
    expect(new Map(keys.map(({ public_id, status }) => [public_id, status]))).toEqual(
      new Map([
        [publicId, 'revoked'],
        [parseApiKey(next)?.publicId, 'active'],
      ]),
    );
  });
});
