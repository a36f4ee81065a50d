// What an operator did, or what lies in the store, and a file that is applied over it.
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { createApiKey, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

let local: LocalStore;
beforeEach(async () => {
  local = await startLocalStore();
});
afterEach(() => local.stop());

const applyLine = (content: unknown) => `apply -f ${local.write('gateway.yaml', content)} ${local.option}`;
const sharded = (credit_shards: number) => gatewayFile({ price: '0.30', workspace: { credit_shards } });

describe('credit shards', () => {
  it('are no difference where the file names no number, neither in a dry run nor when it is applied', async () => {
    await operate(applyLine(sharded(4)));
    const line = applyLine(gatewayFile({ price: '0.30' }));
    expect((await operate(`${line} --dry-run`)).out).toBe('dry run, nothing was written: 3 unchanged');
    expect((await operate(line)).out).toBe('3 unchanged');
  });

  it('cannot become fewer: apply and its dry run say why, and nothing of the file is written', async () => {
    await operate(applyLine(sharded(4)));
    const fewer = applyLine({ ...sharded(2), models: [] });
    for (const line of [`${fewer} --dry-run`, `${fewer} --yes`]) {
      const { code, out, error } = await operate(line);
      expect(error).toContain('workspace team has its credit in 4 shards, and the file says credit_shards: 2');
      expect([code, out]).toEqual([1, '']);
    }
    expect((await operate(applyLine(sharded(4)))).out).toBe('3 unchanged');
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

  it('stays revoked when the same file is applied again, and no other one is made', async () => {
    const publicId = await revokedKey();
    const { code, out } = await operate(applyLine(gatewayFile()));
    expect([code, out]).toEqual([0, '3 unchanged']);
    expect(await statusOf(publicId)).toBe('revoked');
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

it('two BYOK connections to one provider are refused at the second one, and nothing is written', async () => {
  const connection = { provider: 'acme', key: { env: 'ACME_BYOK' }, policy: 'allowed' };
  const { code, out } = await operate(
    applyLine(gatewayFile({ workspace: { byok: { connections: [connection, connection] } } })),
  );
  expect(out).toMatch(
    /^workspaces\[0\]\.byok\.connections\[1\]\.provider: "acme" is already taken by an earlier entry \(line \d+\)$/,
  );
  expect(code).toBe(1);
  await expect(local.store.get('config', 'CATALOGUE')).rejects.toThrow('the store is unavailable');
});

/** The lines of an apply, or of its dry run, that warn. */
const warningsOf = async (content: unknown, more = '') => {
  const { code, out } = await operate(`${applyLine(content)} ${more}`);
  expect(code).toBe(0);
  return out.split('\n').filter((line) => line.startsWith('warning: '));
};

describe('what has no effect is said, by apply and by its dry run', () => {
  it('credit_usd of a workspace that exists, and not where it is what the workspace was made with', async () => {
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

describe('a file that is wrong', () => {
  const problems = async (content: unknown) => {
    const { code, out, error } = await operate(applyLine(content));
    expect([code, error]).toEqual([1, expect.stringContaining('nothing was done')]);
    await expect(local.store.get('config', 'CATALOGUE')).rejects.toThrow('the store is unavailable');
    return out.split('\n').map((line) => line.slice(line.indexOf(': ') + 2));
  };

  it.each([
    [
      'a tab',
      'providers:\n\t- id: acme\n\t  base_url: x\n\t- id: other\n\t  base_url: y\nmodels:\n\t- id: m\n',
      'line 2, column 1: a tab stands where YAML takes spaces only: indent with spaces',
    ],
    [
      'a tab in the middle',
      'providers:\n  - id: acme\n\tbase_url: https://x\n\tauth: none\n    accepts_byok_header: true\nmodels: []\nworkspaces:\n  - id: a\n',
      'line 3, column 1: a tab stands where YAML takes spaces only: indent with spaces',
    ],
    [
      'a colon in a text',
      'providers:\n  - id: acme\n    display_name: Acme: the best\nmodels: []\n',
      'line 3, column 19: a text with a colon in it must stand in quotes, or the line is indented wrongly',
    ],
    [
      'a quote that is not closed',
      'providers:\n  - id: "acme\nmodels: []\n',
      'line 4, column 1: Missing closing "quote',
    ],
    [
      'a bracket of the wrong kind',
      'providers: [{ id: acme, base_url: x ]\nmodels: []\nworkspaces: []\n',
      'line 1, column 37: Flow map in block collection must be sufficiently indented and end with a }',
    ],
  ])('has one message for one fault of its YAML: %s', async (_title, text, message) => {
    expect(await problems(text)).toEqual([message]);
  });

  it('has one message for each name that is written twice', async () => {
    const message =
      'the names of a mapping are unique, and this one is written twice: write it once, with all that belongs to it';
    expect(await problems('providers: []\nproviders: []\nmodels: []\nmodels: []\n')).toEqual([
      `line 2, column 1: ${message}`,
      `line 4, column 1: ${message}`,
    ]);
  });

  const secret = 'gsk_Abcd0123456789abcdefghij';
  const place = 'the credential itself in the variable NAME of the gateway';
  it.each<[string, object, object, string]>([
    ['auth', { auth: secret }, {}, `write auth: { bearer: { env: NAME } }, ${place}`],
    ['bearer', { auth: { bearer: secret } }, {}, `write { env: NAME }, ${place}`],
    ['the name of a variable', { auth: { bearer: { env: secret } } }, {}, `write { env: NAME }, ${place}`],
    ['the name of a secret', { auth: { bearer: { secret } } }, {}, `write { env: NAME }, ${place}`],
    ['a member that other programs have', { api_key: secret }, {}, `write auth: { bearer: { env: NAME } }, ${place}`],
    ['the same in auth', { auth: { api_key: secret } }, {}, `write auth: { bearer: { env: NAME } }, ${place}`],
    [
      'the URL',
      { base_url: `https://${secret}@api.example/v1` },
      {},
      `write auth: { bearer: { env: NAME } }, ${place}`,
    ],
    [
      'its query',
      { base_url: `https://api.example/v1?key=${secret}` },
      {},
      `write auth: { bearer: { env: NAME } }, ${place}`,
    ],
    [
      'a connection',
      {},
      { byok: { connections: [{ provider: 'acme', key: secret }] } },
      `write { env: NAME }, ${place}`,
    ],
    [
      'a key of a workspace',
      {},
      { keys: [{ name: 'ci', key: secret }] },
      'goes into byok.connections, key: { env: NAME }',
    ],
  ])(
    'says of a credential in %s what to write instead, and never repeats it',
    async (_place, provider, workspace, advice) => {
      const { providers, ...rest } = gatewayFile({ workspace: workspace as Record<string, unknown> });
      const { auth: _none, ...acme } = providers[0] ?? {};
      const lines = await problems({ ...rest, providers: [{ ...acme, ...provider }] });
      expect(lines.filter((line) => line.includes(advice))).toHaveLength(1);
      expect(lines.join('\n')).not.toContain(secret);
    },
  );

  it('names an id that is taken, of whatever kind and length, but no key and no credential', async () => {
    const file = gatewayFile();
    const [model] = file.models;
    const [provider] = file.providers;
    const key = createApiKey(systemRandomness);
    const long = { ...model, id: 'acme/gpt-4.1-mini-2025-04-14-preview-of-the-next-release' };
    const odd = { ...provider, id: 'sk-0123456789abcdefghij' };
    const lines = await problems({
      providers: [provider, odd, odd],
      models: [long, long],
      workspaces: [
        {
          id: 'team',
          keys: [
            { name: 'a', key },
            { name: 'b', key },
          ],
        },
        { id: 'team' },
      ],
    });
    expect(lines.map((line) => line.replace(/ \(line \d+\)$/, ''))).toEqual([
      'it is already taken by an earlier entry',
      `"${long.id}" is already taken by an earlier entry`,
      'it is already taken by an earlier entry',
      '"team" is already taken by an earlier entry',
    ]);
  });
});

it('a credential in the place of its name is not taken by credentials set, and not repeated', async () => {
  const { code, out, error } = await operate('credentials set sk-live-0123456789abcdef --stage dev');
  expect([code, out]).toEqual([2, '']);
  expect(error).toContain('the credential itself is read from standard input');
  expect(error).not.toContain('0123456789');
});
