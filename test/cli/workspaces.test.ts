import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

let local: LocalStore;
beforeAll(async () => {
  local = await startLocalStore();
  await operate(`apply -f ${local.write('gateway.yaml', gatewayFile())} ${local.option}`);
});
afterAll(() => local.stop());

const shown = (id: string) => operateJson<Record<string, unknown>>(`workspaces show ${id} ${local.option}`);

describe('workspaces', () => {
  it('are made with credit and limits, once', async () => {
    const settings =
      '--credit 5 --spend-limit 40 --models acme/small,acme/large --concurrency 9 --zdr on --data-residency eu,us --presets on --member-keys 3 --member-rpm 60 --member-spend-limit 5 --member-spend-limit-reset monthly --member-expires-in 30d';
    expect((await operate(`workspaces create search ${settings} ${local.option}`)).code).toBe(0);
    expect(await shown('search')).toEqual({
      id: 'search',
      granted_usd: '5',
      spent_usd: '0',
      held_usd: '0',
      available_usd: '5',
      spend_limit_usd: '40',
      models: ['acme/small', 'acme/large'],
      data_policy: { zdr: true, data_residency: ['eu', 'us'] },
      concurrency: 9,
      function_concurrency: 20,
      features: { byok: false, presets: true },
      member_keys: {
        max: 3,
        rpm: 60,
        concurrency: null,
        spend_limit_usd: '5',
        spend_limit_reset: 'monthly',
        expires_in: '30d',
      },
    });
    const { out } = await operate(`workspaces show search ${local.option}`);
    expect(out).toContain('data_residency: eu us, zdr: true');
    expect(out).toContain('expires_in: 30d, max: 3, rpm: 60, spend_limit_reset: monthly, spend_limit_usd: 5');
    expect(out).not.toMatch(/[{}[\]"]/);
    const again = await operate(`workspaces create search --credit 9 ${local.option}`);
    expect([again.code, again.error]).toEqual([1, expect.stringContaining('there is a workspace search already')]);
    expect(await shown('search')).toMatchObject({ granted_usd: '5' });
  });

  it('change in what is named, and keep the rest', async () => {
    const members = `workspaces update search --member-rpm none --member-concurrency 2 ${local.option}`;
    expect(await operateJson(members)).toMatchObject({ member_keys: { max: 3, rpm: null, concurrency: 2 } });
    for (const wrong of ['--member-keys none --member-rpm 5', '--member-expires-in 30']) {
      expect((await operate(`workspaces update search ${wrong} ${local.option}`)).code).toBe(2);
    }
    const line = `workspaces update search --spend-limit none --models all --zdr off --byok on --member-keys none ${local.option}`;
    expect(await operateJson(line)).toMatchObject({ change: 'changed', spend_limit_usd: null });
    expect(await shown('search')).toMatchObject({
      models: 'all',
      data_policy: { data_residency: ['eu', 'us'] },
      concurrency: 9,
      features: { byok: true, presets: true },
      member_keys: null,
    });
    expect(await operateJson(line)).toMatchObject({ change: 'unchanged' });
    const none = await operate(`workspaces update none --concurrency 1 ${local.option}`);
    expect([none.code, none.error]).toEqual([1, expect.stringContaining('there is no workspace none')]);
    const model = await operate(`workspaces update search --models no/such ${local.option}`);
    expect([model.code, model.error]).toEqual([1, expect.stringContaining('no/such')]);
  });

  it('are listed with their credit, for people and for programs', async () => {
    const { workspaces } = await operateJson<{ workspaces: { id: string }[] }>(`workspaces list ${local.option}`);
    expect(workspaces.map(({ id }) => id)).toEqual(['search', 'team']);
    expect((await operate(`workspaces list ${local.option}`)).out).toMatch(/^search +5 +0 +0 +5 /m);
  });
});
