// A key is rotated while its clients go on: the lines as they are typed, a gateway behind HTTP on the same store.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { operate } from './operator.ts';

const hourMs = 3_600_000;
let gateway: Harness;
let folder: string;
let aheadMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
beforeAll(async () => {
  folder = temporaryFolder();
  gateway = await startHarness({ clock, models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
});
afterAll(async () => {
  await gateway.stop();
});

const gw = (line: string) =>
  operate(`${line} --dynamodb ${gateway.testStore.endpoint} --stage ${gateway.testStore.stage}`, { clock });

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
    readonly rpm: number | null;
    readonly models: readonly string[] | null;
    readonly spent_usd: string | null;
    readonly replaced_by: string | null;
  }[];
}

const listed = async (name: string) => (await gwJson<Listed>('keys list')).keys.filter((key) => key.name === name);

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
    const shown = async () => /(\w+)/.exec((await gw('keys list')).out.split(`${publicIdOf(former)} `)[1] ?? '')?.[1];
    aheadMs += 23.9 * hourMs;
    expect([await statusWith(former), await statusWith(next), await shown()]).toEqual([200, 200, 'ending']);
    aheadMs += 0.2 * hourMs;
    expect([await statusWith(former), await statusWith(next), await shown()]).toEqual([401, 200, 'expired']);
  });

  it('takes name, limits and rules along, and what was spent counts on: a rotation buys no new limit', async () => {
    const { key: former } = await create('spender', '--rpm 500 --spend-limit 0.0005 --models acme/echo');
    expect(await statusWith(former)).toBe(200);
    const [{ spent_usd: spent } = { spent_usd: null }] = await listed('spender');
    expect(Number(spent)).toBeGreaterThan(0);
    const { key, public_id, former: ending } = await gwJson<Rotated>('keys rotate spender --workspace team --grace 2h');
    expect(Math.round((Date.parse(ending.expires_at) - clock.nowMs()) / 60_000)).toBe(120);
    const keys = await listed('spender');
    expect(keys.find((one) => one.public_id === public_id)).toMatchObject({
      rpm: 500,
      models: ['acme/echo'],
      spent_usd: spent,
      replaced_by: null,
    });
    expect(keys.find((one) => one.public_id === ending.public_id)).toMatchObject({ replaced_by: public_id });
    expect((await gw('keys list --workspace team')).out).toMatch(new RegExp(`spender +${ending.public_id} +ending `));
    // In turns, until neither has any left.
    const statuses = { [former]: 200, [key]: 200 };
    for (let calls = 0; calls < 60 && Object.values(statuses).includes(200); calls += 1) {
      for (const one of [former, key]) statuses[one] = await statusWith(one);
    }
    expect(Object.values(statuses)).toEqual([402, 402]);
    const shown = await Promise.all(
      [former, key].map(async (one) => {
        const response = await gateway.get('/key', { authorization: `Bearer ${one}` });
        const { data } = (await response.json()) as { data: Record<string, unknown> };
        return [data.limit_usd, data.usage_usd, data.limit_remaining_usd];
      }),
    );
    expect(shown[0]).toEqual(shown[1]);
    const [first] = (await listed('spender')).filter((one) => one.public_id === ending.public_id);
    expect(first?.spent_usd).toBe(spent);
    const [after] = (await listed('spender')).filter((one) => one.public_id === public_id);
    expect(Number(after?.spent_usd)).toBeLessThanOrEqual(0.0005);
  });

  it('leaves the name to the new key: a file, an export and the next rotation mean that one, and the former still ends', async () => {
    const { key: former } = await create('deploy', '--rpm 9');
    const { public_id: second } = await gwJson<Rotated>('keys rotate deploy --workspace team --grace 1h');
    const exported = parse((await gw('export')).out) as { workspaces: { id: string; keys: { name: string }[] }[] };
    const [team] = exported.workspaces;
    expect(team?.keys.filter(({ name }) => name === 'deploy')).toEqual([
      { name: 'deploy', rpm: 9, spend_limit_usd: null },
    ]);
    // A file that says it never expires gives the former key no new life, by name or by text.
    const path = join(folder, 'gateway.yaml');
    const write = (key: object) =>
      writeFileSync(
        path,
        stringify({
          ...exported,
          workspaces: [{ id: 'team', keys: [{ name: 'deploy', rpm: 7, expires_at: null, ...key }] }],
        }),
      );
    write({});
    expect((await gw(`apply -f ${path}`)).code).toBe(0);
    write({ key: former });
    const byText = await gw(`apply -f ${path}`);
    expect(byText.out).toContain(`warning: the file gives the key ${publicIdOf(former)}, which was rotated and ends `);
    expect(byText.out).toContain(`: deploy of team is ${second} now`);
    expect((await listed('deploy')).map(({ public_id, rpm }) => [public_id, rpm])).toEqual(
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

  it('at the same moment by several operators leaves one key the name: who has none is told, and makes none', async () => {
    await create('shared');
    const results = await Promise.all([1, 2, 3].map(() => gw('keys rotate shared --workspace team')));
    const done = results.filter(({ code }) => code === 0);
    expect(done.length).toBeGreaterThan(0);
    for (const { code, out, error } of results.filter((result) => result.code !== 0)) {
      expect([code, out]).toEqual([1, '']);
      expect(error).toMatch(/was rotated or revoked at the same moment|several active keys of team are called shared/);
    }
    const active = (await listed('shared')).filter((key) => key.status === 'active' && key.replaced_by === null);
    expect(active).toHaveLength(1);
    const printed = done.map(({ out }) => publicIdOf(out.split('\n').at(-1) ?? ''));
    expect(printed).toContain(active[0]?.public_id);
  });

  it.each([
    ['a name that no active key has', 'nobody', 1, /workspace team has no active key nobody; there are .*ci/],
    ['a grace that is no time', 'ci --grace soon', 2, /--grace is a length of time/],
    ['a grace of years', 'ci --grace 900d', 2, /--grace is a length of time of at most a year/],
  ])('makes no key for %s', async (_title, words, code, message) => {
    const before = (await gw('keys list')).out;
    expect(await gw(`keys rotate ${words} --workspace team`)).toMatchObject({
      code,
      out: '',
      error: expect.stringMatching(message),
    });
    expect((await gw('keys list')).out).toBe(before);
  });
});
