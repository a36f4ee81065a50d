import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

describe('the model list', () => {
  let local: LocalStore;
  beforeAll(async () => {
    local = await startLocalStore();
  });
  afterAll(() => local.stop());

  const file = (price: object = {}) => ({
    providers: [
      { id: 'openai', kind: 'openai' },
      { id: 'bedrock', kind: 'bedrock' },
    ],
    models: [
      { from: 'openai', only: ['gpt-4.1*'] },
      { id: 'openai/gpt-5', providers: [{ provider: 'openai', ...price }] },
    ],
    workspaces: [{ id: 'team', models: ['openai/gpt-4.1-mini'] }],
  });
  const variables = { AWS_REGION: 'eu-west-1' };
  const apply = (content: unknown, more = '') =>
    operate(`apply -f ${local.write('gateway.yaml', content)} ${local.option} ${more}`, { variables });
  interface Changes {
    readonly changes: readonly { readonly change: string }[];
  }
  const wouldChange = async (path: string) => {
    const dry = await operateJson<Changes>(`apply -f ${path} ${local.option} --dry-run`, { variables });
    return dry.changes.filter(({ change }) => change !== 'unchanged');
  };

  describe('a file of kinds and names', () => {
    it('is shown whole before it is applied, and is exported as short as it was, or whole', async () => {
      const dry = await apply(file(), '--dry-run');
      expect(dry.out).toContain('created    catalogue');
      expect(dry.out).toMatch(
        /^filled in {2}providers\[openai\], from the kind openai\n +base_url: "https:\/\/api\.openai\.com\/v1", apis: /m,
      );
      expect(dry.out).toMatch(
        /^filled in {2}models\[openai\/gpt-5\]\.providers\[openai\], from the model list of [\d-]{10}\n +apis: .*, input_price_per_million: "1\.25", .*max_output_tokens: 128000, tools: true/m,
      );
      expect(dry.out).toMatch(
        /^filled in {2}models\[openai\/gpt-5\], from the model list of .*\n +modalities: \["text","image"/m,
      );
      const narrow = await operate(`apply -f ${local.write('gateway.yaml', file())} ${local.option} --dry-run`, {
        variables,
        style: { columns: 100, isColoured: false },
      });
      expect(narrow.out.split('\n').filter((line) => line.startsWith(' ') && line.length > 100)).toEqual([]);
      expect(narrow.out.replace(/,\n +/g, ', ').includes('json_schema: true')).toBe(true);
      expect((await apply(file())).code).toBe(0);
      // Stored fields are not filled in a second time.
      expect((await apply(file(), '--dry-run')).out).not.toContain('filled in');
      const short = await operate(`export ${local.option}`);
      const { providers, models } = parse(short.out) as Record<string, readonly Record<string, unknown>[]>;
      expect(providers?.[0]).toMatchObject({ id: 'openai', kind: 'openai' });
      expect(providers?.[0]).not.toHaveProperty('base_url');
      expect(providers?.[1]).toMatchObject({ id: 'bedrock', kind: 'bedrock', region: 'eu-west-1' });
      expect(models).toEqual([
        { from: 'openai', only: ['gpt-4.1*'] },
        { id: 'openai/gpt-5', created: expect.any(Number), providers: [{ provider: 'openai' }] },
      ]);
      const full = await operate(`export --full ${local.option}`);
      expect(full.out).toContain('input_price_per_million');
      expect(full.out).toContain('https://bedrock-runtime.eu-west-1.amazonaws.com');
      for (const { out } of [short, full]) expect(out).not.toContain('written');
    });

    it('differs in nothing from the list until a price does, and the list is taken over on request', async () => {
      expect((await operate(`models diff ${local.option}`)).code).toBe(0);
      await apply(file({ input_price_per_million: '9.00' }));
      const different = await operate(`models diff ${local.option}`);
      expect(different.code).toBe(1);
      expect(different.out).toMatch(/openai\/gpt-5 +openai +input_price_per_million +9\.00 +1\.25 +yes/);
      expect((await operate(`models update openai/gtp-5 ${local.option}`)).error).toContain(
        'Did you mean "openai/gpt-5"?',
      );
      await operate(`models update --dry-run ${local.option}`);
      expect((await operate(`models diff ${local.option}`)).code).toBe(1);
      const updated = await operate(`models update openai/gpt-5 ${local.option}`);
      expect(updated.out).toContain('1 of them are written in the gateway file');
      expect(updated.code).toBe(0);
      expect((await operate(`models diff ${local.option}`)).code).toBe(0);
      // Without a name the command updates all models; a file without the price leaves the updated price in place.
      await apply(file({ input_price_per_million: '8.00', cached_input_price_per_million: '7.00' }));
      expect((await operate(`models update ${local.option}`)).out).toContain('updated 1 models');
      expect((await operate(`models diff ${local.option}`)).code).toBe(0);
      expect(await wouldChange(local.write('gateway.yaml', file()))).toEqual([]);
    });
  });
});

describe('the workspaces', () => {
  let local: LocalStore;
  beforeAll(async () => {
    local = await startLocalStore();
    await operate(`apply -f ${local.write('gateway.yaml', gatewayFile())} ${local.option}`);
  });
  afterAll(() => local.stop());

  const showWorkspace = (id: string) => operateJson<Record<string, unknown>>(`workspaces show ${id} ${local.option}`);

  describe('workspaces', () => {
    it('are made with credit and limits, once', async () => {
      const settings =
        '--credit 5 --spend-limit 40 --models acme/small,acme/large --zdr on --data-residency eu,us --presets on --member-keys 3 --member-rpm 60 --member-spend-limit 5 --member-spend-limit-reset monthly --member-expires-in 30d';
      expect((await operate(`workspaces create search ${settings} ${local.option}`)).code).toBe(0);
      expect(await showWorkspace('search')).toMatchObject({
        id: 'search',
        granted_usd: '5',
        last_credit_alert: null,
        last_limit_alert: null,
        spent_usd: '0',
        held_usd: '0',
        available_usd: '5',
        spend_limit_usd: '40',
        function_concurrency: 20,
        features: { byok: false, presets: true },
        guardrails: null,
        member_keys: { max: 3, rpm: 60, concurrency: null },
      });
      const { out } = await operate(`workspaces show search ${local.option}`);
      expect(out).toContain('data_residency: eu us, zdr: true');
      expect(out).toContain('expires_in: 30d, max: 3, rpm: 60, spend_limit_reset: monthly, spend_limit_usd: 5');
      expect(out).not.toMatch(/[{}[\]"]/);
      const again = await operate(`workspaces create search --credit 9 ${local.option}`);
      expect([again.code, again.error]).toEqual([1, expect.stringContaining('there is a workspace search already')]);
      expect(await showWorkspace('search')).toMatchObject({ granted_usd: '5' });
    });

    it('change in what is named, and keep the rest', async () => {
      const members = `workspaces update search --member-rpm none --member-concurrency 2 ${local.option}`;
      expect(await operateJson(members)).toMatchObject({ member_keys: { max: 3, rpm: null, concurrency: 2 } });
      for (const wrong of ['--member-keys none --member-rpm 5', '--member-expires-in 30']) {
        expect((await operate(`workspaces update search ${wrong} ${local.option}`)).code).toBe(2);
      }
      const line = `workspaces update search --spend-limit none --models all --zdr off --byok on --member-keys none ${local.option}`;
      expect(await operateJson(line)).toMatchObject({ change: 'changed', spend_limit_usd: null });
      expect(await showWorkspace('search')).toMatchObject({
        models: 'all',
        data_policy: { data_residency: ['eu', 'us'] },
        features: { byok: true, presets: true },
        member_keys: null,
      });
      expect(await operateJson(line)).toMatchObject({ change: 'unchanged' });
      const keep = (log: string) => operateJson(`workspaces update search --content-log ${log} ${local.option}`);
      expect(await keep('7d')).toMatchObject({ content_log: { keep: '7d', share: 1 } });
      const none = await operate(`workspaces update none --concurrency 1 ${local.option}`);
      expect([none.code, none.error]).toEqual([1, expect.stringContaining('there is no workspace none')]);
      const model = await operate(`workspaces update search --models no/such ${local.option}`);
      expect([model.code, model.error]).toEqual([1, expect.stringContaining('no/such')]);
    });
  });
});
