import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createApiKey, createKeyStore, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestStore } from '../support/test-store.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

describe('rules of keys and operators', () => {
  interface CreatedKey {
    readonly key: string;
    readonly public_id: string;
  }

  let local: LocalStore;
  beforeAll(async () => {
    local = await startLocalStore();
    await operate(`apply -f ${local.write('gateway.yaml', gatewayFile())} ${local.option}`);
  });
  afterAll(() => local.stop());

  const read = (publicId: string) => createKeyStore(local.store).read(publicId);
  const createKey = (name: string, more = '') =>
    operateJson<CreatedKey>(`keys create --workspace team --name ${name} ${more} ${local.option}`);

  describe('keys', () => {
    it('are created with their limits and shown once: no later line prints more than the public id', async () => {
      const { key, public_id } = await createKey('build', '--rpm 60 --tpm 9000 --spend-limit 2.5');
      expect(parseApiKey(key)?.publicId).toBe(public_id);
      expect(await read(public_id)).toMatchObject({
        workspace: 'team',
        name: 'build',
        status: 'active',
        rpm: 60,
        tpm: 9_000,
        spendLimitUsd: '2.5',
      });
      const lists = await Promise.all(
        ['keys list', 'keys list --json', 'status', 'status --json', 'usage --by key'].map((line) =>
          operate(`${line} ${local.option}`),
        ),
      );
      for (const { code, out, error } of lists) {
        expect(code).toBe(0);
        expect(out + error).not.toContain('sk-gw-');
        expect(out + error).not.toContain(key.slice(-49, -6));
      }
      expect(lists[0]?.out).toMatch(new RegExp(`team +build +${public_id} +active +60 +9000 .* 2.5 `));
    });

    it('are revoked after a yes only, once, by public id or by the whole key, which is not repeated', async () => {
      const { key, public_id } = await createKey('given-up', '--rpm 7');
      const line = `keys revoke ${public_id} ${local.option}`;
      expect(await operate(line)).toMatchObject({ code: 2, error: expect.stringContaining('pass --yes') });
      const declined = await operate(line, { answers: [''] });
      expect(declined).toMatchObject({ code: 1, questions: [`Revoke key given-up of team (${public_id})? [y/N] `] });
      expect((await read(public_id))?.status).toBe('active');
      const { code, out } = await operate(`keys revoke ${key} --yes ${local.option}`);
      expect([code, out]).toEqual([0, `key given-up of team (${public_id}) is revoked`]);
      expect(await read(public_id)).toMatchObject({ status: 'revoked', rpm: 7 });
      const again = await operate(line);
      expect([again.code, again.out]).toEqual([0, `key given-up of team (${public_id}) was revoked before`]);
    });

    it('are updated in what is named and keep the rest, in use and without a new key; none or all takes it away', async () => {
      const { public_id } = await createKey(
        'changing',
        '--rpm 7 --models acme/small,acme/large --tag team=search --tag feature=rerank,run=1',
      );
      const update = (more: string) => operateJson<object>(`keys update ${public_id} ${more} ${local.option}`);
      const tags = { team: 'search', feature: 'rerank', run: '1' };
      expect(await read(public_id)).toMatchObject({ models: ['acme/small', 'acme/large'], tags });
      expect(await update('--rpm 60')).toMatchObject({ change: 'changed', name: 'changing', rpm: 60, tags });
      expect(await update('--rpm 60')).toMatchObject({ change: 'unchanged' });
      const keyFields = { name: 'nightly', models: ['acme/small'], tags: { team: 'ads' } };
      expect(await update('--name nightly --models acme/small --tag team=ads')).toMatchObject(keyFields);
      expect(await update('--rpm none --models all --tag none')).toMatchObject({ rpm: null, models: null, tags: {} });
      expect((await read(public_id))?.tags).toBeNull();
      const beforeMs = systemClock.nowMs();
      await update('--expires 90d --tag run=1,feature=x');
      expect(Math.round((((await read(public_id))?.expiresAtMs ?? 0) - beforeMs) / 86_400_000)).toBe(90);
      expect((await operate(`keys list --workspace team ${local.option}`)).out).toContain('feature=x,run=1');
      const unknown = await operate(`keys update ABCDEFGHIJKLMNOP --rpm 5 ${local.option}`);
      expect([unknown.code, unknown.error]).toEqual([1, 'gw keys update: there is no key ABCDEFGHIJKLMNOP']);
    });

    it('show the last alert of their spend limit, and whether it was delivered', async () => {
      const { public_id } = await createKey('alerted', '--spend-limit 5');
      const keyList = async () => {
        const line = `keys list --search alerted ${local.option}`;
        const { keys } = await operateJson<{ readonly keys: readonly object[] }>(line);
        return { ...keys[0], out: (await operate(line)).out };
      };
      expect(await keyList()).toMatchObject({ last_alert: null, out: expect.not.stringContaining(' %') });
      const mark = { id: 'x', at_ms: 0, scope: '', percent: 80, spent: 4n, limit: 5n };
      for (const tries of [1, undefined]) {
        const alert = tries === undefined ? mark : { ...mark, tries };
        await local.store.update({ table: 'keys', key: public_id, changes: { set: { alert } } });
        expect(await keyList()).toMatchObject({
          last_alert: { percent: 80, at: '1970-01-01T00:00:00.000Z', is_delivered: tries === undefined },
          out: expect.stringMatching(tries === undefined ? / 80 % {2}/ : / 80 %, not delivered /),
        });
      }
    });

    it('have the same names for update, rotate and revoke: name and workspace, or public id; a name without its workspace is refused', async () => {
      const { public_id } = await createKey('alike');
      const run = (line: string) => operate(`keys ${line} ${local.option}`);
      for (const [at, key] of ['alike --workspace team', public_id].entries()) {
        expect(await run(`update ${key} --rpm ${at + 5}`)).toMatchObject({ code: 0 });
        expect(await read(public_id)).toMatchObject({ rpm: at + 5 });
      }
      const second = await operateJson<CreatedKey>(`keys rotate ${public_id} ${local.option}`);
      expect(await read(public_id)).toMatchObject({ replacedBy: second.public_id });
      // The name now belongs to the new key.
      expect(await run('revoke alike --workspace team --yes')).toMatchObject({ code: 0 });
      expect((await read(second.public_id))?.status).toBe('revoked');
      expect((await read(public_id))?.status).toBe('active');
      for (const line of ['update alike --rpm 9', 'rotate alike', 'revoke alike --yes']) {
        const { code, error } = await run(line);
        expect([code, error]).toEqual([2, expect.stringContaining('or a name with --workspace')]);
      }
      for (const line of ['update none --workspace team --rpm 9', 'revoke none --workspace team --yes']) {
        const { code, error } = await run(line);
        expect([code, error]).toEqual([
          1,
          expect.stringContaining('workspace team has no active key none; there are '),
        ]);
      }
    });

    it("of one name made at the same moment by commands and a file are one key, and the others are refused with the key's id", async () => {
      const workspace = { file: gatewayFile({ key: { name: 'raced', key: createApiKey(systemRandomness) } }) };
      const lines = [
        ...Array.from({ length: 4 }, () => `keys create --workspace team --name raced ${local.option}`),
        `apply -f ${local.write('raced.yaml', workspace.file)} --yes ${local.option}`,
        `keys update ${(await createKey('renamed')).public_id} --name raced ${local.option}`,
      ];
      const results = await Promise.all(lines.map((line) => operate(line)));
      const active: string[] = [];
      for await (const key of createKeyStore(local.store).list()) {
        if (key.name === 'raced' && key.status === 'active') active.push(key.publicId);
      }
      expect(active).toHaveLength(1);
      const failed = results.filter(({ code }) => code !== 0);
      expect(failed).toHaveLength(lines.length - 1);
      for (const { out, error } of failed)
        expect(out + error).toMatch(/raced"? is (already )?taken in team by the (active )?key/);
    });
  });

  // Permissions and unique names are tested in contract/manage-operators.
  it('operators are shown with role and workspaces and never with their keys, and are no API keys; ending one is asked about', async () => {
    await operateJson(`workspaces create other ${local.option}`);
    const line = `operators create --name vera --role viewer --workspaces team,other ${local.option}`;
    const { public_id, key } = await operateJson<CreatedKey>(line);
    const lists = ['', '--json'].map((form) => operate(`operators list ${form} ${local.option}`));
    const [table, json] = (await Promise.all(lists)).map(({ out }) => out);
    expect(table).toMatch(new RegExp(`vera +${public_id} +active +viewer +team, other`));
    expect(`${table}${json}`).not.toContain(key.slice(-49, -6));
    expect((await operate(`keys list ${local.option}`)).out).not.toContain(public_id);
    expect((await operate(`keys revoke ${public_id} --yes ${local.option}`)).code).toBe(1);
    const declined = await operate(`operators revoke ${public_id} ${local.option}`, { answers: ['n'] });
    expect(declined.questions).toEqual([`Revoke the operator key vera (${public_id})? [y/N] `]);
    expect((await operate(`operators list ${local.option}`)).out).toMatch(/vera +\w+ +active/);
  });
});

// A key is rotated while its clients go on. The lines run as they are typed, and a gateway behind HTTP uses the same
// store.
describe('rotation', () => {
  const hourMs = 3_600_000;
  let gateway: Harness;
  let folder: string;
  let data: string;
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  beforeAll(async () => {
    folder = temporaryFolder();
    data = join(folder, 'data');
    gateway = await startHarness({
      testStore: await startTestStore(data),
      clock,
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
    });
  });
  afterAll(async () => {
    await gateway.stop();
  });

  const gw = (line: string) => operate(`${line} --data ${data}`, { clock });

  async function gwJson<Document>(line: string): Promise<Document> {
    const { code, out, error } = await gw(`${line} --json`);
    expect([code, error]).toEqual([0, '']);
    return JSON.parse(out) as Document;
  }

  const create = (name: string, more = '') =>
    gwJson<{ key: string }>(`keys create --workspace team --name ${name} ${more}`);
  const publicIdOf = (key: string) => parseApiKey(key)?.publicId ?? '';

  async function statusWith(key: string, model = 'acme/echo') {
    const response = await gateway.post(hello(model, { max_tokens: 10 }), { authorization: `Bearer ${key}` });
    await response.text();
    await gateway.settled();
    return response.status;
  }

  interface Rotated {
    readonly key: string;
    readonly public_id: string;
    readonly former: { readonly public_id: string; readonly expires_at: string };
  }

  interface Listed {
    readonly keys: readonly {
      readonly name: string;
      readonly public_id: string;
      readonly status: string;
      readonly state: string;
      readonly rpm: number | null;
      readonly models: readonly string[] | null;
      readonly spent_usd: string | null;
      readonly replaced_by: string | null;
    }[];
  }

  const keysNamed = async (name: string) => (await gwJson<Listed>('keys list')).keys.filter((key) => key.name === name);

  describe('keys rotate', () => {
    it('makes a second key beside the first, which ends after the grace and not before', async () => {
      const { key: former } = await create('ci', '--rpm 50');
      const { code, out } = await gw('keys rotate ci --workspace team');
      const lines = out.split('\n');
      const next = lines.at(-1) ?? '';
      expect([code, lines.length]).toEqual([0, 3]);
      expect(lines[0]).toMatch(new RegExp(`^the former key ${publicIdOf(former)} ends \\d{4}-`));
      expect(lines[1]).toBe('key ci of team (shown once):');
      expect([await statusWith(former), await statusWith(next)]).toEqual([200, 200]);
      expect((await keysNamed('ci')).map(({ rpm }) => rpm)).toEqual([50, 50]);
      const states = (await keysNamed('ci')).map(({ status, state }) => `${status} ${state}`);
      expect(states.sort()).toEqual(['active active', 'active ending']);
      const shownId = async () =>
        /(\w+)/.exec((await gw('keys list')).out.split(`${publicIdOf(former)} `)[1] ?? '')?.[1];
      aheadMs += 23.9 * hourMs;
      expect([await statusWith(former), await statusWith(next), await shownId()]).toEqual([200, 200, 'ending']);
      aheadMs += 0.2 * hourMs;
      expect([await statusWith(former), await statusWith(next), await shownId()]).toEqual([401, 200, 'expired']);
    });

    it('leaves a key that is named if the new one is revoked, as long as it is accepted', async () => {
      const { key: former } = await create('leaked', '--rpm 9');
      await gw('keys rotate leaked --workspace team --grace 2h');
      const first = await gw('keys revoke leaked --workspace team --yes');
      expect([first.code, first.error]).toEqual([
        0,
        expect.stringMatching(
          new RegExp(
            `^note: ${publicIdOf(former)}, a former key of this name, is accepted until \\d{4}-\\S+: keys revoke ${publicIdOf(former)}$`,
          ),
        ),
      ]);
      expect(await statusWith(former)).toBe(200);
      const second = await gw(`keys revoke ${publicIdOf(former)} --yes`);
      expect([second.code, second.error, await statusWith(former)]).toEqual([0, '', 401]);
    });

    it('leaves the name to the new key: a file, an export and the next rotation mean that one, and the former still ends', async () => {
      const { key: former } = await create('deploy', '--rpm 9');
      const { public_id: second } = await gwJson<Rotated>('keys rotate deploy --workspace team --grace 1h');
      const exportedFile = parse((await gw('export')).out) as {
        workspaces: { id: string; keys: { name: string }[] }[];
      };
      const [team] = exportedFile.workspaces;
      expect(team?.keys.filter(({ name }) => name === 'deploy')).toEqual([
        { name: 'deploy', rpm: 9, spend_limit_usd: null },
      ]);
      // A file in which the key never expires does not extend the former key, whether the file names it or contains its
      // text.
      const path = join(folder, 'gateway.yaml');
      const write = (key: object) =>
        writeFileSync(
          path,
          stringify({
            ...exportedFile,
            workspaces: [{ id: 'team', keys: [{ name: 'deploy', rpm: 7, expires_at: null, ...key }] }],
          }),
        );
      write({});
      expect((await gw(`apply -f ${path}`)).code).toBe(0);
      write({ key: former });
      const byText = await gw(`apply -f ${path}`);
      expect(byText.out).toContain(
        `warning: the file gives the key ${publicIdOf(former)}, which was rotated and ends `,
      );
      expect(byText.out).toContain(`: deploy of team is ${second} now`);
      expect((await keysNamed('deploy')).map(({ public_id, rpm }) => [public_id, rpm])).toEqual(
        expect.arrayContaining([
          [second, 7],
          [publicIdOf(former), 7],
        ]),
      );
      const third = await gwJson<Rotated>('keys rotate deploy --workspace team --grace 0s');
      expect(third.former.public_id).toBe(second);
      aheadMs += hourMs;
      expect([await statusWith(former), await statusWith(third.key)]).toEqual([401, 200]);
    });
  });
});
