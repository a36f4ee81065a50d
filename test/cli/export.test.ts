import { parse } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { readGatewayFile } from '../../shared/configuration/gateway-file/index.ts';
import { createApiKey, createKeyStore, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { collect } from '../../shared/foundation/parallel/index.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

let local: LocalStore;
beforeEach(async () => {
  local = await startLocalStore();
});
afterEach(() => local.stop());

interface Exported {
  readonly workspaces: readonly { readonly keys: readonly unknown[] }[];
}

const exportText = async () => (await operate(`export ${local.option}`)).out;
const apply = (name: string, content: unknown, more = '') =>
  operate(`apply -f ${local.write(name, content)} ${local.option} ${more}`, { variables: { ACME_BYOK: byokKey } });
const byokKey = 'the-key-of-the-connection';

/** Fills the store with every field that a file may have, and with states that only commands make. */
async function fillStore(): Promise<string> {
  const functions = [
    {
      id: 'label',
      kind: 'prompt',
      active: 'r1',
      revisions: [
        {
          id: 'r1',
          state: 'activated',
          valid_for: '30d',
          model: 'acme/small',
          messages: [{ role: 'user', content: 'Label \u001b[2J\u009b1m: {{input.ticket}}\nin a word' }],
          input: { type: 'object', schema: { type: 'object', required: ['ticket'] } },
          response_format: {
            type: 'json_schema',
            // The fields are in no alphabetical order, because providers answer in the order of the schema.
            json_schema: { name: 'label', schema: { type: 'object', properties: { z: {}, a: {} }, required: ['z'] } },
          },
        },
        {
          id: 'r2',
          model: 'auto',
          messages: [{ role: 'user', content: '{{input}}' }],
          cases: [{ input: 'x', expect: { contains: 'x' } }],
        },
      ],
    },
  ];
  const workspace = {
    credit_shards: 2,
    spend_limit_usd: '9.50',
    models: ['acme/small'],
    data_policy: { zdr: true },
    features: { byok: true, presets: true },
    presets: [{ slug: 'terse', versions: [{ version: '1', config: { max_tokens: 5 } }], designated: '1' }],
    byok: { connections: [{ provider: 'acme', key: { env: 'ACME_BYOK' }, policy: 'allowed', budget_usd: '3' }] },
    functions,
  };
  const provider = {
    apis: ['chat-completions', 'messages', 'embeddings'],
    auth: { header: { name: 'x-api-key', env: 'ACME_KEY' } },
    headers: { 'anthropic-version': '2023-06-01' },
  };
  const { out } = await apply(
    'gateway.yaml',
    gatewayFile({ provider, workspace, key: { rpm: 7, spend_limit_usd: '2.50' } }),
  );
  await operate(`functions disable team label --yes ${local.option}`);
  return /sk-gw-\S+/.exec(out)?.[0] ?? '';
}

describe('export', () => {
  it('gives a valid gateway file without a secret that changes nothing where it came from, and makes the same of an empty store', async () => {
    const key = await fillStore();
    const text = await exportText();
    expect(readGatewayFile(text)).toMatchObject({ ok: true });
    const { code, out } = await apply('exported.yaml', text, '--dry-run');
    expect([code, out]).toEqual([0, expect.stringMatching(/dry run, nothing was written: 5 unchanged$/)]);
    expect(JSON.parse((await operate(`export ${local.option} --json`)).out)).toEqual(parse(text));
    expect((parse(text) as { providers: unknown[] }).providers).toMatchObject([
      {
        apis: ['chat-completions', 'messages', 'embeddings'],
        auth: { header: { name: 'x-api-key', env: 'ACME_KEY' } },
        headers: { 'anthropic-version': '2023-06-01' },
      },
    ]);
    expect(text).not.toContain(byokKey);
    expect(text).not.toMatch(/sk-gw-|secret|sha256|sealed|wrapped/);
    for (const part of [key.slice(6, 22), key.slice(23, 66)]) expect(text).not.toContain(part);
    // The text contains no control character for a terminal.
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    const other = await startLocalStore();
    try {
      const applyResult = await operate(`apply -f ${other.write('exported.yaml', text)} ${other.option}`);
      expect(applyResult.code).toBe(0);
      expect(applyResult.out).toMatch(/^team +ci +sk-gw-/m);
      expect(applyResult.out).toContain('ACME_BYOK is not set');
      expect((await operate(`export ${other.option}`)).out).toBe(text);
    } finally {
      await other.stop();
    }
  });

  it('names the key of a connection as the file did, and by workspace and provider if that was not kept', async () => {
    await fillStore();
    const connectionsOf = (text: string) =>
      (parse(text) as { workspaces: { byok: { connections: unknown[] } }[] }).workspaces[0]?.byok.connections;
    const other = { policy: 'allowed', budget_usd: '3' };
    expect(connectionsOf(await exportText())).toEqual([{ provider: 'acme', key: { env: 'ACME_BYOK' }, ...other }]);
    const { connections } = (await local.store.get('connections', 'WORKSPACE#team')) as {
      connections: { key_source?: unknown }[];
    };
    const former = connections.map(({ key_source: _source, ...connection }) => connection);
    await local.store.put({
      table: 'connections',
      item: { pk: 'WORKSPACE#team', revision: 9, connections: former },
      repeatable: true,
    });
    const text = await exportText();
    expect(connectionsOf(text)).toEqual([{ provider: 'acme', key: { env: 'BYOK_TEAM_ACME' }, ...other }]);
    // A renamed variable is shown as a change; the stored key stays.
    const renamed = await apply('exported.yaml', text.replace('BYOK_TEAM_ACME', 'RENAMED'));
    expect(renamed.out).toContain(
      'changed    byok connection to acme of team\n             key: (none) → {"env":"RENAMED"}',
    );
    expect(connectionsOf(await exportText())).toEqual([{ provider: 'acme', key: { env: 'RENAMED' }, ...other }]);
  });

  it('leaves revoked keys out, and reports keys that have the same name', async () => {
    await fillStore();
    const create = async (more: string) =>
      (await operateJson<{ public_id: string }>(`keys create --workspace team ${more} ${local.option}`)).public_id;
    await operate(`keys revoke ${await create('--name twin --rpm 2')} --yes ${local.option}`);
    await create('--name twin --rpm 1');
    const keysOf = async () =>
      (JSON.parse((await operate(`export ${local.option} --json`)).out) as Exported).workspaces[0]?.keys;
    expect(await keysOf()).toEqual(
      expect.arrayContaining([
        { name: 'ci', rpm: 7, spend_limit_usd: '2.50' },
        { name: 'twin', rpm: 1, spend_limit_usd: null },
      ]),
    );
    // Two keys could have the same name before names were unique.
    const keys = createKeyStore(local.store);
    const [twin] = (await collect(keys.list())).filter(({ name, status }) => name === 'twin' && status === 'active');
    const { publicId = '', secretSha256 = '' } = parseApiKey(createApiKey(systemRandomness)) ?? {};
    await keys.write({ ...twin, workspace: 'team', name: 'twin', publicId, secretSha256, rpm: 2 });
    expect(await keysOf()).toEqual([{ name: 'ci', rpm: 7, spend_limit_usd: '2.50' }]);
    expect((await operate(`export ${local.option}`)).error).toBe(
      'note: keys twin of team differ in their limits and are left out',
    );
  });

  it('leaves out what names a model, provider or guardrail that is gone, says so, and changes nothing where it came from', async () => {
    const price = { input_price_per_million: '1', output_price_per_million: '1', context_length: 1_000 };
    const modelOf = (id: string, provider: string) => ({ id, providers: [{ provider, ...price }] });
    const providerOf = (id: string) => ({ id, base_url: 'http://127.0.0.1:9/v1' });
    const wordsOf = (id: string) => ({ id, kind: 'http', url: 'https://guard.example/check' });
    const revisionOf = (id: string, model: string, more = {}) => ({
      id,
      state: 'activated',
      model,
      messages: [{ role: 'user', content: '{{input}}' }],
      ...more,
    });
    const before = {
      providers: [providerOf('stays'), providerOf('goes')],
      models: [modelOf('kept', 'stays'), modelOf('gone', 'goes')],
      guardrails: [wordsOf('words'), wordsOf('lost')],
      workspaces: [
        {
          id: 'team',
          models: ['kept', 'gone'],
          features: { byok: true },
          keys: [
            { name: 'any' },
            { name: 'limited', models: ['gone'] },
            { name: 'other', models: ['kept'] },
            { name: 'unchecked', guardrails: ['lost', 'words'] },
          ],
          byok: { connections: ['goes', 'stays'].map((provider) => ({ provider, key: { env: 'ACME_BYOK' } })) },
          functions: [
            {
              id: 'label',
              kind: 'prompt',
              active: 'r2',
              revisions: [
                revisionOf('r1', 'gone', { fallback_models: ['gone'] }),
                revisionOf('r2', 'kept', { fallback_models: ['gone'] }),
                revisionOf('r3', 'kept'),
              ],
            },
          ],
        },
        { id: 'nothing-left', models: ['gone'] },
        { id: 'guarded', guardrails: ['words', 'lost'], keys: [{ name: 'any' }] },
        { id: 'last', models: ['gone', 'kept'] },
      ],
    };
    expect((await apply('before.yaml', before)).code).toBe(0);
    const after = {
      providers: [providerOf('stays')],
      models: [modelOf('kept', 'stays')],
      guardrails: [wordsOf('words')],
    };
    expect((await apply('after.yaml', after, '--yes')).code).toBe(0);
    const { out, error } = await operate(`export ${local.option}`);
    const missing = 'is left out, and stays as it is stored: there is no';
    expect(error.split('\n').sort()).toEqual(
      [
        `note: byok connection to goes of team ${missing} provider "goes" in providers`,
        `note: key limited of team ${missing} model "gone" in models`,
        `note: key unchecked of team ${missing} guardrail "lost" in guardrails`,
        `note: revision r1 of function label of team ${missing} model "gone" in models`,
        `note: revision r2 of function label of team ${missing} model "gone" in models`,
        ...['last', 'nothing-left', 'team'].map(
          (id) => `note: gone in the list of models of ${id} ${missing} model "gone" in models`,
        ),
        `note: workspace guarded ${missing} guardrail "lost" in guardrails`,
      ].sort(),
    );
    const listsIn = (file: unknown) =>
      (file as { workspaces: { [name: string]: unknown }[] }).workspaces.map(({ id, models }) => [id, models]);
    const lists = [
      ['last', ['kept']],
      ['nothing-left', []],
      ['team', ['kept']],
    ];
    expect(listsIn(parse(out))).toEqual(lists);
    expect((parse(out) as typeof before).workspaces.at(-1)).toMatchObject({
      keys: [{ name: 'any' }, { name: 'other', models: ['kept'] }],
      byok: { connections: [{ provider: 'stays' }] },
      functions: [{ id: 'label', revisions: [{ id: 'r3' }] }],
    });
    const again = await apply('exported.yaml', out, '--dry-run');
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(/dry run, nothing was written: \d+ unchanged$/)]);
    const other = await startLocalStore();
    try {
      expect((await operate(`apply -f ${other.write('exported.yaml', out)} ${other.option}`)).code).toBe(0);
      // Each model has its limit, or none.
      expect(listsIn(JSON.parse((await operate(`workspaces list ${other.option} --json`)).out))).toEqual(lists);
    } finally {
      await other.stop();
    }
    // The apply writes a list that has fewer models than the stored list.
    const narrowed = { ...before, workspaces: [{ id: 'team', models: ['kept'] }] };
    expect((await apply('narrowed.yaml', narrowed)).code).toBe(0);
    const team = JSON.parse((await operate(`workspaces show team ${local.option} --json`)).out);
    expect(team).toMatchObject({ models: ['kept'] });
  });

  it('leaves a key out that keeps less of its calls than a file can say, if its workspace was narrowed later', async () => {
    const keyOf = (name: string, content_log: unknown) => ({ name, content_log });
    const keys = [
      keyOf('few', { keep: '30d', share: 0.1 }),
      keyOf('none', { share: 0 }),
      keyOf('long', { keep: '30d' }),
    ];
    const file = { providers: [], models: [], workspaces: [{ id: 'team', content_log: { keep: '30d' }, keys }] };
    expect((await apply('logged.yaml', file)).code).toBe(0);
    expect((await operate(`workspaces update team --content-log 7d ${local.option}`)).code).toBe(0);
    const { out, error } = await operate(`export ${local.option}`);
    const [team] = (parse(out) as typeof file).workspaces;
    expect(team?.keys).toMatchObject([{ name: 'long' }, { name: 'none', content_log: { share: 0 } }]);
    expect(team?.keys[0]).not.toHaveProperty('content_log');
    expect(error.trim()).toBe(
      'note: key few of team is left out, and stays as it is stored: its content_log.keep must not be longer than that of the workspace, 7d',
    );
    const again = await apply('exported.yaml', out, '--dry-run');
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(/dry run, nothing was written: \d+ unchanged$/)]);
  });

  it('of a folder without a store is one line, exit 1', async () => {
    const { code, out, error } = await operate(`export --data ${local.folder}`);
    expect([code, out]).toEqual([1, '']);
    expect(error).toContain('apply a gateway file first');
  });
});
