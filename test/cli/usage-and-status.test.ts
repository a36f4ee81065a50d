import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type CallRecord, createCallRecords, utcDayOf } from '../../shared/accounting/call-records/index.ts';
import { createCooldowns, createStatisticsRecorder } from '../../shared/accounting/provider-health/index.ts';
import { createAdministration } from '../../shared/configuration/administration/index.ts';
import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { callRecord } from '../support/call-record.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

const dayMs = 86_400_000;
/** The time is three in the afternoon of today: the time to live would delete records of a fixed day later on. */
const nowMs = Math.floor(systemClock.nowMs() / dayMs) * dayMs + 15 * 3_600_000;
const dayBefore = (days: number) => utcDayOf(nowMs - days * dayMs);
const clock: Clock = { ...systemClock, nowMs: () => nowMs };

interface Usage {
  readonly groups: readonly { group: string | null; calls: number; cost_usd: string }[];
  readonly total: { calls: number; cost_usd: string };
}

let local: LocalStore;
beforeAll(async () => {
  local = await startLocalStore();
  const file = gatewayFile();
  const workspaces = [...file.workspaces, { id: 'other', credit_usd: '1' }];
  await operate(`apply -f ${local.write('gateway.yaml', { ...file, workspaces })} ${local.option}`);
  const records = createCallRecords({ store: local.store, clock });
  const write = (executionId: string, more: Partial<CallRecord>) =>
    records.write(callRecord({ executionId, workspace: 'team', ...more }));
  await write('a', { arrivedAtMs: nowMs - 60_000, modelServed: 'acme/small', costPicoUsd: 1n, tags: { team: 'ads' } });
  await write('b', { arrivedAtMs: nowMs - 2 * dayMs, modelServed: 'acme/large', costPicoUsd: 1_500_000_000_000n });
  await write('c', {
    arrivedAtMs: nowMs - 2 * dayMs,
    modelServed: 'acme/large',
    costPicoUsd: 0n,
    tags: { team: 'search' },
  });
  await write('d', { arrivedAtMs: nowMs - 9 * dayMs, modelServed: 'acme/small', costPicoUsd: 9n });
  await write('e', {
    arrivedAtMs: nowMs - 60_000,
    workspace: 'other',
    modelServed: 'acme/other',
    costPicoUsd: 2n,
    tags: { team: 'search', run: '7' },
  });
});
afterAll(() => local.stop());

const usage = (options = '') => operateJson<Usage>(`usage ${options} ${local.option}`, { clock });
const groupsOf = ({ groups }: Usage) => groups.map(({ group, calls, cost_usd }) => [group, calls, cost_usd]);

describe('usage', () => {
  it('sums up the last seven days of every workspace, most expensive first, to the last digit', async () => {
    const summary = await usage();
    expect(groupsOf(summary)).toEqual([
      ['acme/large', 2, '1.5'],
      ['acme/other', 1, '0.000000000002'],
      ['acme/small', 1, '0.000000000001'],
    ]);
    expect(summary.total).toMatchObject({ calls: 4, cost_usd: '1.500000000003' });
  });

  it('leaves out other workspaces, and what came before the time that is asked for', async () => {
    expect(groupsOf(await usage('--workspace other --since 30d'))).toEqual([['acme/other', 1, '0.000000000002']]);
    expect(groupsOf(await usage('--workspace team --since 1h'))).toEqual([['acme/small', 1, '0.000000000001']]);
    expect(groupsOf(await usage(`--workspace team --since ${dayBefore(9)} --by day`))).toEqual([
      [dayBefore(9), 1, '0.000000000009'],
      [dayBefore(2), 2, '1.5'],
      [dayBefore(0), 1, '0.000000000001'],
    ]);
  });

  it('groups by the values of a tag, and tells what has none apart', async () => {
    expect(groupsOf(await usage('--by tag:team'))).toEqual([
      [null, 1, '1.5'],
      ['search', 2, '0.000000000002'],
      ['ads', 1, '0.000000000001'],
    ]);
    expect(groupsOf(await usage('--by tag:run'))).toEqual([
      [null, 3, '1.500000000001'],
      ['7', 1, '0.000000000002'],
    ]);
    const { out } = await operate(`usage --by tag:team ${local.option}`, { clock });
    expect(out).toMatch(/^tag:team .*\n\(no such tag\) /);
    for (const wrong of ['tag:', 'tag:Team', 'team']) {
      expect(await operate(`usage --by ${wrong} ${local.option}`)).toMatchObject({
        code: 2,
        error: expect.stringContaining('as in tag:team'),
      });
    }
  });

  it('draws a bar of each share, tells how far it is, and prints nothing else in json', async () => {
    const { out, progress } = await operate(`usage --workspace team ${local.option}`, { clock });
    expect(out).toMatch(/^acme\/large +2 .* 1\.5 +█{20}$/m);
    expect(out).toMatch(/^acme\/small +1 .* 0\.000000000001 +▏$/m);
    expect(out).toMatch(/^total +3 /m);
    expect(progress.at(-1)).toBe('reading records: 8 of 8 days');
    const json = await operate(`usage --json ${local.option}`, { clock });
    expect([json.error, Object.keys(JSON.parse(json.out) as object)]).toEqual([
      '',
      ['since', 'until', 'by', 'groups', 'total'],
    ]);
  });

  it('of a time without calls says so', async () => {
    const later: Clock = { ...clock, nowMs: () => nowMs + 30 * dayMs };
    const since = new Date(nowMs + 23 * dayMs).toISOString();
    expect((await operate(`usage ${local.option}`, { clock: later })).out).toBe(`no calls since ${since}`);
  });
});

describe('status', () => {
  it('shows tables, open holds with their age, expired ones apart, limits and cooling providers; and writes nothing', async () => {
    const credit = createAdministration({ store: local.store, clock, randomness: systemRandomness }).credit;
    const account = { workspace: 'team', spendLimit: null };
    const hold = (owner: string, arrivedAtMs: number) =>
      credit.take(account, { owner, amount: 1_000_000_000_000n, expiresAtMs: arrivedAtMs + holdLifeMs });
    await hold('young', nowMs - 5_000);
    await hold('old', nowMs - 20_000);
    await hold('dead', nowMs - holdLifeMs - 1_000);
    const cooldowns = createCooldowns({ store: local.store, clock });
    cooldowns.report(
      { provider: 'acme', model: 'acme/large' },
      { workspace: 'team', callId: 'young', isRateLimited: true },
    );
    await cooldowns.flush();

    const status = await operateJson<object>(`status ${local.option}`, { clock });
    expect(status).toMatchObject({
      workspaces: [
        { workspace: 'other', held_usd: '0', oldest_hold_age_ms: null, expired_usd: '0' },
        { workspace: 'team', available_usd: '3', held_usd: '2', expired_usd: '1' },
      ],
      keys: [{ workspace: 'team', name: 'ci', status: 'active', rpm: null, spend_limit_usd: null }],
      statistics_age_ms: 0,
      providers: [
        { model: 'acme/small', provider: 'acme', cooling: false, uptime: null },
        { model: 'acme/large', provider: 'acme', cooling: true, state: 'limited' },
      ],
    });
    const { out } = await operate(`status ${local.option}`, { clock });
    expect(out).toMatch(/^team +3 +- +- +20 +2 +(15|16|17|18|19|20)s +1$/m);
    // The output shows the column's values for both keys.
    expect(out).toMatch(/^keys +ACTIVE +2 /m);
    // The command does not write the snapshot, which belongs to the instances that share it.
    const snapshots: unknown[] = [];
    for await (const item of local.store.scan('statistics')) snapshots.push(item);
    expect(snapshots).toEqual([]);
  });

  it('tells a provider that only fails from one that is not used', async () => {
    // At this time no provider is cooling any more.
    const later: Clock = { ...clock, nowMs: () => nowMs + 31_000 };
    const recorder = createStatisticsRecorder({ store: local.store, clock: later, randomness: systemRandomness });
    recorder.record({ model: 'acme/small', provider: 'acme', latencyMs: 5, outcome: 'failed' });
    await recorder.flush();
    const states = async () =>
      (await operateJson<{ providers: object[] }>(`status ${local.option}`, { clock: later })).providers;
    expect(await states()).toMatchObject([
      { model: 'acme/small', state: 'failing', uptime: 0, median_latency_ms: null },
      { model: 'acme/large', state: 'unused', uptime: null },
    ]);
    expect((await operate(`status ${local.option}`, { clock: later })).out).toMatch(
      /^acme\/small +acme +failing +no /m,
    );
    recorder.record({ model: 'acme/small', provider: 'acme', latencyMs: 5, outcome: 'ok' });
    await recorder.flush();
    expect(await states()).toMatchObject([{ state: 'serving', uptime: 0.5 }, { state: 'unused' }]);
  });
});
