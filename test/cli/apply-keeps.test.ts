// What an operator did, or what lies in the store, and a file that is applied over it.
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
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
