// A stage that uses restored tables: calls are refused meanwhile, and ended things stay ended.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createTables } from '../../infra/local/create-tables.ts';
import { createCatalogueStore } from '../../shared/configuration/catalogue/index.ts';
import { createKeyStore, type KeyRecord } from '../../shared/configuration/keys/index.ts';
import { configFreshMs } from '../../shared/foundation/constants/index.ts';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/dynamodb-store/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { gatewayFile, type LocalStore, startLocalStore, startStageServer } from './local-store.ts';
import { operate } from './operator.ts';

describe('gw pause and gw resume', () => {
  let harness: Harness;
  let local: LocalStore;
  beforeAll(async () => {
    local = await startLocalStore();
    harness = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
  });
  afterAll(() => Promise.all([local.stop(), harness.stop()]));
  const gw = (line: string) => operate(`${line} ${local.option}`);
  /** Returns what every process reads. */
  const isPaused = async () => (await createCatalogueStore(local.store).readPointer())?.refusesCalls === true;

  it('say whether calls are refused, once each, and operators change nothing meanwhile', async () => {
    await gw(`apply -f ${local.write('gateway.yaml', gatewayFile())} --yes`);
    expect(await gw('pause')).toMatchObject({ code: 2, error: expect.stringContaining('--yes') });
    expect(await isPaused()).toBe(false);
    const paused = JSON.parse((await gw('pause --yes --json')).out);
    expect(paused).toEqual({ state: 'paused', change: 'changed', effective_within_seconds: 5 });
    expect(await isPaused()).toBe(true);
    expect((await gw('pause --yes')).out).toContain('was paused before');
    expect((await gw('providers disable acme --yes')).error).toContain('paused');
    expect((await gw('resume')).out).toContain('resumed');
    expect((await gw('resume')).out).toContain('was serving before');
    expect(await isPaused()).toBe(false);
  });

  it('have a process refuse that has served before, as soon as it looks: what it has in memory serves no call', async () => {
    const clock = manualClock();
    const warm = await harness.open({ clock });
    for (let call = 0; call < 2; call += 1) expect((await warm.post(hello('acme/echo'))).status).toBe(200);
    await harness.composition.catalogues.setPaused(true);
    harness.simulator.clear();
    clock.advance(configFreshMs);
    for (let call = 0; call < 3; call += 1) {
      await expectError(await warm.post(hello('acme/echo')), 503, 'RATE_LIMITER_UNAVAILABLE');
    }
    expect(harness.simulator.calls).toHaveLength(0);
    await harness.composition.catalogues.setPaused(false);
    clock.advance(configFreshMs);
    expect((await warm.post(hello('acme/echo'))).status).toBe(200);
  });

  it('have every process refuse calls with 503 and Retry-After, no provider called, no alarm raised, and serve them again', async () => {
    await harness.composition.catalogues.setPaused(true);
    harness.simulator.clear();
    const refusal = await (await harness.open()).post(hello('acme/echo'));
    expect(refusal.headers.get('retry-after')).toBe('60');
    await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(harness.simulator.calls).toHaveLength(0);
    const lines = harness.logLines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request');
    // The count of failed answers ignores lines with `paused`; the other fields would blame a store or a stage.
    const { status, paused, unanswered, exhausted } = lines.at(-1);
    expect([status, paused, unanswered, exhausted]).toEqual([503, true, undefined, undefined]);
    await harness.composition.catalogues.setPaused(false);
    expect((await (await harness.open()).post(hello('acme/echo'))).status).toBe(200);
  });
});

describe('gw keys reconcile', () => {
  let server: Awaited<ReturnType<typeof startStageServer>>;
  let present: Store;
  let former: Store;
  beforeAll(async () => {
    server = await startStageServer('local');
    const client = createDynamoClient({ endpoint: server.url });
    await createTables(client, 'local', '-then');
    present = createDynamoStore({ client, stage: 'local' });
    former = createDynamoStore({ client, stage: 'local', tableSuffix: '-then' });
  });
  afterAll(() => server.stop());
  const gw = (line: string) => operate(`${line} --dynamodb ${server.url}`);

  it('ends what the former tables have ended since, names it, leaves all else, and changes nothing when it is repeated', async () => {
    await gw(`apply -f ${server.write('gateway.yaml', gatewayFile())} --yes`);
    const make = async (name: string) =>
      JSON.parse((await gw(`keys create --workspace team --name ${name} --spend-limit 1 --json`)).out)
        .public_id as string;
    const [lostKey, rotatedKey, unchangedKey] = [await make('lost'), await make('rotated'), await make('kept')];
    const operator = JSON.parse((await gw('operators create --name ada --json')).out).public_id as string;
    // The former tables get the items of the present tables, as after a restoration.
    for (const table of ['keys', 'operators'] as const) {
      for await (const item of present.scan(table)) await former.put({ table, item });
    }
    const end = Date.parse('2026-11-26T10:00:00Z');
    await former.update({ table: 'keys', key: lostKey, changes: { set: { status: 'revoked' } } });
    const keys = createKeyStore(former);
    const storedKey = (await keys.read(rotatedKey)) as KeyRecord;
    await keys.rotate(storedKey, { publicId: 'madeByTheRotatio', secretSha256: 'f', expiresAtMs: null }, end);
    await former.update({ table: 'operators', key: operator, changes: { set: { status: 'revoked' } } });
    await former.put({ table: 'keys', item: { ...(await present.get('keys', unchangedKey)), pk: 'madeSinceMadeSin' } });
    // Only the present store has this change.
    await gw(`keys update ${unchangedKey} --rpm 7`);

    const { code, out } = await gw('keys reconcile --from=-then');
    expect(code).toBe(0);
    expect(out.trim().split('\n').toSorted()).toEqual(
      [
        `key lost of team (${lostKey}) stays revoked`,
        `key rotated of team (${rotatedKey}) ends 2026-11-26T10:00:00.000Z, as it was rotated or given an end`,
        `operator ada (${operator}) stays revoked`,
      ].toSorted(),
    );
    expect(await present.get('keys', lostKey)).toMatchObject({ status: 'revoked' });
    expect(await present.get('keys', rotatedKey)).toMatchObject({ status: 'active', expires_at_ms: end });
    expect(await present.get('keys', unchangedKey)).toMatchObject({ status: 'active', requests_per_minute: 7 });
    expect(await present.get('keys', 'madeSinceMadeSin')).toBeUndefined();
    expect(await present.get('operators', operator)).toMatchObject({ status: 'revoked' });
    expect((await gw('keys reconcile --from=-then')).out).toContain('nothing has ended since');
    expect((await gw('keys reconcile --from none')).out).toContain('nothing has ended since');
  });
});
