import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { readOnly } from '../../shared/storage/store/index.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

interface Applied {
  readonly changes: readonly { resource: string; change: string; members: readonly unknown[] }[];
  readonly created_keys: readonly { key: string }[];
  readonly notes: readonly string[];
}

let local: LocalStore;
beforeEach(async () => {
  local = await startLocalStore();
});
afterEach(() => local.stop());

const changedResources = ({ changes }: Applied) =>
  changes.filter(({ change }) => change !== 'unchanged').map(({ resource, change }) => `${resource}: ${change}`);

const applyLine = (content: unknown) => `apply -f ${local.write('gateway.yaml', content)} ${local.option}`;

describe('apply', () => {
  it('makes tables, catalogue, workspace and key, prints the key once, and changes nothing the second time', async () => {
    const line = applyLine(gatewayFile());
    const first = await operateJson<Applied>(line);
    expect(changedResources(first)).toEqual([
      'catalogue: created',
      'workspace team: created',
      'key ci of team: created',
    ]);
    expect(first.created_keys).toHaveLength(1);
    const second = await operate(line);
    expect([second.code, second.out]).toEqual([0, '3 unchanged']);
    expect(second.out).not.toContain('sk-gw-');
  });

  it('names every problem of a bad file with its path, and writes nothing', async () => {
    const { code, out, error } = await operate(applyLine({ ...gatewayFile(), models: [{ id: 'auto' }], more: 1 }));
    expect(out).toContain('models[0].providers: is required');
    expect(out).toContain('more: is not known here');
    expect(error).toMatch(/is not valid: \d+ problems, nothing was done$/);
    expect(code).toBe(1);
    expect(await local.store.get('config', 'CATALOGUE')).toBeUndefined();
  });

  it('has a line for each problem that only the store can tell, too', async () => {
    const presets = ['one', 'two'].map((slug) => ({ slug }));
    const { code, out, error } = await operate(applyLine(gatewayFile({ workspace: { presets } })));
    expect(out.split('\n')).toEqual(
      [43, 44].map(
        (line, index) => `workspaces[0].presets[${index}].versions: is required for a new preset (line ${line})`,
      ),
    );
    expect([code, error]).toEqual([1, expect.stringMatching(/is not valid: 2 problems, nothing was done$/)]);
  });

  it('reads keys of BYOK connections from the shell, says what is skipped and prints no key', async () => {
    const connections = [{ provider: 'acme', key: { env: 'ACME_BYOK' }, policy: 'allowed' }];
    const line = applyLine(gatewayFile({ workspace: { byok: { connections }, features: { byok: true } } })).replace(
      local.option,
      `--data ${join(local.folder, 'data')}`,
    );
    const without = await operateJson<Applied>(line);
    expect(without.notes).toEqual([expect.stringContaining('ACME_BYOK is not set')]);
    const variables = { ACME_BYOK: 'the-key-of-the-workspace' };
    const withKey = await operate(line, { variables });
    expect(withKey.out).toContain('changed    byok connection to acme of team\n             key: another one');
    expect(withKey.out + withKey.error).not.toContain(variables.ACME_BYOK);
    expect((await operate(line, { variables })).out).toBe('4 unchanged');
  });
});

describe('the published key of a demo that runs on the store', () => {
  const publishedKey = 'sk-gw-demodemodemodemo-demodemodemodemodemodemodemodemodemodemokey2Jc7YM';
  const revocation = 'the published demo key is revoked: it could call a real provider';

  it('ends when a file brings a provider that is not simulated, and not before', async () => {
    const options = { port: 0, config: undefined, data: local.data, dynamodb: undefined };
    const demo = await startLocalGateway(options, () => {});
    const headers = { authorization: `Bearer ${publishedKey}` };
    const status = async () => (await fetch(`${demo.url}/models`, { headers })).status;
    try {
      const fileText = (await operate(`export ${local.option}`)).out;
      const edited = local.write('edited.yaml', fileText.replace('data_collection: allow', 'data_collection: deny'));
      expect((await operate(`apply -f ${edited} --yes ${local.option}`)).out).not.toContain(revocation);
      expect(await status()).toBe(200);
      expect((await operate(`${applyLine(gatewayFile())} --yes`)).out).toContain(revocation);
      expect(await status()).toBe(401);
    } finally {
      await demo.stop();
    }
  });
});

describe('a dry run', () => {
  it('on an empty store shows what would be made, makes no item and no key', async () => {
    const { code, out } = await operate(`${applyLine(gatewayFile())} --dry-run`);
    expect(out.split('\n')).toEqual([
      'created    catalogue',
      'created    workspace team',
      'created    key ci of team',
      'dry run, nothing was written: 3 created',
    ]);
    expect(code).toBe(0);
    expect(await local.store.get('config', 'CATALOGUE')).toBeUndefined();
  });

  it('on a folder that does not exist does not make it', async () => {
    const folder = join(local.folder, 'nowhere');
    const line = `apply -f ${local.write('gateway.yaml', gatewayFile())} --data ${folder}`;
    expect((await operate(`${line} --dry-run`)).code).toBe(0);
    expect((await operate(`keys list --data ${folder}`)).error).toContain('apply a gateway file first');
    expect(existsSync(folder)).toBe(false);
  });
});

// Which guardrails a workspace loses is tested in unit/gateway-file/apply.
it('guardrails that a workspace loses are named, and never lost unasked; those that the file does not name stay', async () => {
  const guardrails = ['pii', 'words'].map((id) => ({
    ...{ id, kind: 'http', url: `http://127.0.0.1:9/${id}`, auth: 'none', on: ['input'] },
  }));
  const guarded = (ids?: readonly string[]) =>
    applyLine({ ...gatewayFile({ workspace: { guardrails: ids } }), guardrails });
  await operate(guarded(['pii', 'words']));
  expect((await operate(`${guarded(['words'])} --dry-run`)).out).toContain('guardrails: ["pii","words"] → ["words"]');
  const refusal = await operate(guarded(['words']));
  expect(refusal).toMatchObject({
    code: 2,
    out: '',
    error: expect.stringContaining('(guardrail pii of workspace team)'),
  });
  for (const same of [['pii', 'words'], undefined]) expect((await operate(guarded(same))).out).toBe('3 unchanged');
});

describe('what takes something away', () => {
  const smaller = () => gatewayFile({ models: ['acme/small'], key: { status: 'revoked' } });

  it('is refused if no operator can be asked, and nothing is written', async () => {
    await operate(applyLine(gatewayFile()));
    const { code, out, error } = await operate(applyLine(smaller()));
    expect(error).toContain('models[acme/large] of catalogue; key ci of team is revoked');
    expect(error).toContain('pass --yes');
    expect([code, out]).toEqual([2, '']);
    expect((await operate(applyLine(gatewayFile()))).out).toBe('3 unchanged');
  });

  it('is asked about, and a no leaves all as it is', async () => {
    await operate(applyLine(gatewayFile()));
    const declined = await operate(applyLine(smaller()), { answers: ['n'] });
    expect(declined.questions).toHaveLength(1);
    expect([declined.code, declined.error]).toEqual([1, 'gw apply: nothing was done']);
    expect((await operate(applyLine(gatewayFile()))).out).toBe('3 unchanged');
    const agreed = await operate(applyLine(smaller()), { answers: ['y'] });
    expect([agreed.code, agreed.out.split('\n').at(-1)]).toEqual([0, '2 changed, 1 unchanged']);
  });

  it('is done unasked with --yes', async () => {
    await operate(applyLine(gatewayFile()));
    const { code, questions } = await operate(`${applyLine(smaller())} --yes`, { answers: [] });
    expect([code, questions]).toEqual([0, []]);
  });
});

describe('a command that only reads', () => {
  /** Returns names, modes and contents of the files. The engine notes in `-shm` who has the file open. */
  const stateOf = (folder: string) =>
    readdirSync(folder).map((name) => {
      const path = join(folder, name);
      const bytes = name.endsWith('-shm') ? '' : readFileSync(path);
      return [name, statSync(path).mode, createHash('sha256').update(bytes).digest('hex')];
    });
  const readers = [
    'status',
    'keys list',
    'credits show',
    'usage',
    'calls',
    'providers list',
    'functions list',
    'export',
  ];

  it('changes no item, no file and no mode of the folder of a gateway, and makes no master key', async () => {
    const folder = join(local.folder, 'data');
    const file = local.write('gateway.yaml', gatewayFile());
    expect((await operate(`apply -f ${file} --data ${folder}`)).code).toBe(0);
    // A folder has this mode after a backup was copied.
    chmodSync(folder, 0o755);
    const before = stateOf(folder);
    for (const line of [...readers, `apply -f ${file} --dry-run`]) {
      expect({ line, code: (await operate(`${line} --data ${folder}`)).code }).toEqual({ line, code: 0 });
    }
    expect(stateOf(folder)).toEqual(before);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    expect(before.map(([name]) => name)).not.toContain('byok-master.key');
  });

  it('leaves a folder that holds no gateway as it is', async () => {
    const folder = join(local.folder, 'pictures');
    mkdirSync(folder, { mode: 0o755 });
    expect((await operate(`keys list --data ${folder}`)).error).toContain('apply a gateway file first');
    expect([readdirSync(folder), statSync(folder).mode & 0o777]).toEqual([[], 0o755]);
  });

  it('looks at a connection whose master key is not here without making one', async () => {
    const byok = { connections: [{ provider: 'acme', key: { env: 'ACME_BYOK' }, policy: 'allowed' }] };
    const variables = { ACME_BYOK: 'the-key' };
    const folder = join(local.folder, 'data');
    const file = local.write('gateway.yaml', gatewayFile({ workspace: { byok, features: { byok: true } } }));
    expect((await operate(`apply -f ${file} --data ${folder}`, { variables })).code).toBe(0);
    rmSync(join(folder, 'byok-master.key'));
    const { code, out } = await operate(`apply -f ${file} --data ${folder} --dry-run`, { variables });
    expect([code, out]).toEqual([0, expect.stringMatching(/^changed .*acme/m)]);
    expect(readdirSync(folder)).not.toContain('byok-master.key');
  });

  it('has every write of the store refused', async () => {
    const store = readOnly(local.store);
    const key = { table: 'config', key: 'x', changes: { remove: ['x'] } } as const;
    const item = { table: 'config', item: { pk: 'x' } } as const;
    const writes = [
      () => store.transact?.(() => undefined),
      () => store.put(item),
      () => store.batchPut([item]),
      () => store.update(key),
      () => store.delete('config', 'x'),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow('the store was opened for reading');
    const reads = ['get', 'scan', 'query'];
    const operations = Object.entries(local.store).filter(([, operation]) => typeof operation === 'function');
    expect(operations.filter(([name]) => !reads.includes(name))).toHaveLength(writes.length);
  });
});

describe('a key that an operator revoked', () => {
  async function revokedKey(): Promise<string> {
    const { created_keys } = await operateJson<{ created_keys: { key: string }[] }>(applyLine(gatewayFile()));
    const publicId = parseApiKey(created_keys[0]?.key ?? '')?.publicId ?? '';
    expect((await operate(`keys revoke ${publicId} --yes ${local.option}`)).code).toBe(0);
    return publicId;
  }
  const statusOf = async (publicId: string) => (await local.store.get('keys', publicId))?.status;

  it('stays revoked if the file says nothing of its status, and that is said by a dry run and by the apply', async () => {
    const publicId = await revokedKey();
    for (const more of ['--dry-run', '']) {
      const { code, out } = await operate(`${applyLine(gatewayFile())} ${more}`);
      expect([code, out]).toEqual([
        0,
        expect.stringContaining('warning: key ci of team was revoked and stays revoked'),
      ]);
      expect(await statusOf(publicId)).toBe('revoked');
    }
    // A key that the file revokes or makes active again gets no such warning.
    const { out } = await operate(`${applyLine(gatewayFile({ key: { status: 'revoked' } }))} --dry-run`);
    expect(out).not.toContain('stays revoked');
  });

  it('comes back by status: active in the file, when the operator says yes to it', async () => {
    const publicId = await revokedKey();
    const line = applyLine(gatewayFile({ key: { status: 'active' } }));
    expect((await operate(`${line} --dry-run`)).out).toContain('status: "revoked" → "active"');
    const unasked = await operate(line);
    expect(unasked).toMatchObject({ code: 2, out: '', error: expect.stringContaining('key ci of team') });
    const declined = await operate(line, { answers: ['n'] });
    expect(declined.questions).toEqual([expect.stringMatching(/^Bring back what was revoked .*\(key ci of team\)\?/)]);
    expect([declined.code, await statusOf(publicId)]).toEqual([1, 'revoked']);
    expect((await operate(line, { answers: ['y'] })).out).toContain('1 changed');
    expect(await statusOf(publicId)).toBe('active');
  });
});

/** Returns the warnings of an apply, or of its dry run. */
const warningsOf = async (content: unknown, more = '') => {
  const { code, out } = await operate(`${applyLine(content)} ${more}`);
  expect(code).toBe(0);
  return out.split('\n').filter((line) => line.startsWith('warning: '));
};

describe('what has no effect is said, by apply and by its dry run', () => {
  it('credit_usd of a workspace that exists, and not if it is what the workspace was made with', async () => {
    expect(await warningsOf(gatewayFile())).toEqual([]);
    expect(await warningsOf(gatewayFile({ workspace: { credit_usd: '5' } }))).toEqual([]);
    const more = gatewayFile({ workspace: { credit_usd: '50.00' } });
    const warning =
      'warning: workspaces[0].credit_usd has no effect, the workspace exists: use gw credits add team AMOUNT';
    expect(await warningsOf(more, '--dry-run')).toEqual([warning]);
    expect(await warningsOf(more)).toEqual([warning]);
    const { credits } = await operateJson<{ credits: unknown[] }>(`credits show team ${local.option}`);
    expect(credits).toMatchObject([{ granted_usd: '5' }]);
  });

  it('presets, connections, models and limits that something else keeps from counting', async () => {
    const functions = (state: string) => [
      {
        id: 'echo',
        kind: 'prompt',
        revisions: [{ id: 'r1', state, model: 'acme/small', messages: [{ role: 'user', content: '{{input}}' }] }],
      },
    ];
    const workspace = {
      models: ['acme/small'],
      presets: [{ slug: 'terse', versions: [{ version: '1', config: { max_tokens: 5 } }] }],
      byok: { connections: [{ provider: 'acme', key: { env: 'PATH' } }] },
    };
    const key = { models: ['acme/large'], spend_limit_reset: 'daily' };
    const file = { key, workspace: { ...workspace, functions: functions('activated') } };
    const first = await warningsOf(gatewayFile(file));
    expect(first.map((line) => line.replace('warning: workspaces[0].', ''))).toEqual([
      'presets have no effect while the workspace has not features: { presets: true }',
      'byok.connections have no effect while the workspace has not features: { byok: true }',
      'keys[0].models names models that the workspace itself may not use: add them to its own models',
      expect.stringContaining('PATH'),
      'keys[0].spend_limit_reset has no effect on a key without spend_limit_usd',
    ]);
    const features = { presets: true, byok: true };
    const better = { ...workspace, features, models: 'all', functions: functions('draft') };
    const second = await warningsOf(
      gatewayFile({ key: { ...key, spend_limit_usd: '1' }, workspace: better }),
      '--dry-run',
    );
    expect(second.filter((line) => !line.includes('PATH'))).toEqual([
      'warning: revision r1 of function echo of team is activated and stays so: state: draft has no effect',
    ]);
  });
});
