import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type CallRecord, createCallRecords } from '../../shared/accounting/call-records/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { callRecord } from '../support/call-record.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

const hourMs = 3_600_000;
const nowMs = systemClock.nowMs();
const clock: Clock = { ...systemClock, nowMs: () => nowMs };

const ids = {
  plain: '11111111-1111-4111-8111-111111111111',
  rescued: '22222222-2222-4222-8222-222222222222',
  refused: '33333333-3333-4333-8333-333333333333',
  other: '44444444-4444-4444-8444-444444444444',
  old: '55555555-5555-4555-8555-555555555555',
  unasked: '88888888-8888-4888-8888-888888888888',
  report: '77777777-7777-4777-8777-777777777777',
};

/**
 * A text that would set the window's title, a line that no command wrote, a cursor movement upwards, and the same for
 * terminals of eight bits.
 */
const hostile =
  'a\u001b]0;owned\u0007\r\nstatus            ok\u001b[2A\u009b2J\u0085b\u061c\u200e\u200f\u202a\u202e\u2066\u2069c';

const hostileId = '99999999-9999-4999-8999-999999999999';

let local: LocalStore;
beforeAll(async () => {
  local = await startLocalStore();
  const file = gatewayFile();
  const workspaces = [...file.workspaces, { id: 'other' }];
  await operate(`apply -f ${local.write('gateway.yaml', { ...file, workspaces })} ${local.option}`);
  const records = createCallRecords({ store: local.store, clock });
  const write = (name: keyof typeof ids, ageMs: number, more: Partial<CallRecord> = {}) =>
    records.write(
      callRecord({
        correlationId: ids[name],
        executionId: `execution-${name}`,
        workspace: 'team',
        arrivedAtMs: nowMs - ageMs,
        modelAsked: 'acme/small',
        modelServed: 'acme/small',
        keyName: 'ci',
        ...more,
      }),
    );
  const failedAttempt = {
    provider: 'globex',
    outcome: 'status_500',
    status: 500,
    ms: 31,
    providerText: 'out of order',
  };
  await write('plain', 10_000, { traceId: 'trace-of-plain', costPicoUsd: 1n });
  await write('rescued', 20_000, {
    attempts: 2,
    attemptCauses: ['status_500'],
    attemptLog: [
      failedAttempt,
      { provider: 'acme', outcome: 'ok', status: 200, ms: 12, schemaMismatch: '/items/0/price: required' },
    ],
    title: 'Chat',
    sessionId: 's-1',
    tags: { team: 'search', feature: 'rerank' },
    user: 'u-7',
    costPicoUsd: 2n,
  });
  await write('refused', 2 * hourMs, {
    modelAsked: 'acme/large',
    modelServed: undefined,
    provider: undefined,
    outcome: 'no_available_provider',
    attemptLog: [failedAttempt],
    keyName: 'build',
    keyPublicId: 'BUILDBUILDBUILD1',
    costPicoUsd: 0n,
  });
  await write('other', 3 * hourMs, { workspace: 'other', title: 'Agent', sessionId: 's-1', tags: { team: 'search' } });
  await write('old', 50 * hourMs);
  await write('unasked', 70 * hourMs, {
    modelAsked: 'acme/none',
    interfaceId: 'messages',
    modelServed: undefined,
    provider: undefined,
    outcome: 'unknown_model',
    errorMessage: 'There is no model "acme/none".',
    attempts: 0,
    attemptLog: [],
    costPicoUsd: 0n,
  });
  await records.write(
    callRecord({
      correlationId: hostileId,
      executionId: 'execution-hostile',
      workspace: 'team',
      arrivedAtMs: nowMs - 100 * hourMs,
      modelAsked: hostile,
      sessionId: hostile,
      title: hostile,
      user: hostile,
      errorMessage: hostile,
      tags: { note: hostile },
      attemptLog: [{ ...failedAttempt, providerText: hostile }],
    }),
  );
  await write('report', 60 * hourMs, {
    modelAsked: 'gw/function/report@r1',
    functionId: 'report',
    isByok: true,
    totalMs: 12_000,
  });
});
afterAll(() => local.stop());

const idsOf = async (options: string) =>
  (await operateJson<{ id: string }[]>(`calls ${options} ${local.option}`, { clock })).map(({ id }) => id);

describe('calls', () => {
  it('are those of the last day in every workspace, newest first', async () => {
    expect(await idsOf('')).toEqual([ids.plain, ids.rescued, ids.refused, ids.other]);
  });

  it.each([
    ['--since 5m', ['plain', 'rescued']],
    ['--since 3d --workspace team', ['plain', 'rescued', 'refused', 'old', 'report', 'unasked']],
    ['--since 3d --slow 5s', ['report']],
    ['--slow 4211ms', []],
    ['--sort cost --workspace team', ['rescued', 'plain', 'refused']],
    ['--since 3d --sort ms --limit 2', ['report', 'plain']],
    ['--failed', ['refused']],
    ['--key build', ['refused']],
    ['--key BUILDBUILDBUILD1', ['refused']],
    ['--model acme/large', ['refused']],
    ['--provider globex', ['rescued', 'refused']],
    ['--tag team=search', ['rescued', 'other']],
    ['--tag team=search --tag feature=rerank', ['rescued']],
    ['--tag constructor=x', []],
    ['--code no_available_provider', ['refused']],
    ['--since 4d --refused', ['unasked']],
    ['--since 4d --faults', ['refused']],
    ['--since 4d --interface messages', ['unasked']],
    ['--session s-1', ['rescued', 'other']],
  ] as [string, (keyof typeof ids)[]][])('%s gives %j', async (options, names) => {
    expect(await idsOf(options)).toEqual(names.map((name) => ids[name]));
  });

  it('show their path through the providers, cost and id, for people', async () => {
    const { out } = await operate(`calls --workspace team ${local.option}`, { clock });
    expect(out).toMatch(
      new RegExp(
        `ok +acme/small +globex status_500 → acme .* 0\\.000000000002 +feature=rerank,team=search +team/ci +${ids.rescued}$`,
        'm',
      ),
    );
    expect(out).toMatch(/no_available_provider +acme\/large +globex status_500 /);
    expect((await operate(`calls --key nobody ${local.option}`, { clock })).out).toMatch(/^no such calls since /);
  });

  it('show a function under its own id, and who paid if it was not the credit', async () => {
    const { out } = await operate(`calls --since 3d --slow 5s ${local.option}`, { clock });
    expect(out).toMatch(/ paid by +key +id$/m);
    expect(out).toMatch(new RegExp(` gw/function/report@r1 .* BYOK +team/ci +${ids.report}$`, 'm'));
    expect((await operate(`calls ${local.option}`, { clock })).out).not.toContain('BYOK');
  });

  it.each([80, 120])('fit a terminal of %i columns, with the id of each whole', async (columns) => {
    const style = { columns, isColoured: false };
    for (const command of ['calls --since 3d', 'usage --since 3d', 'usage --since 3d --by provider', 'status']) {
      const { out } = await operate(`${command} ${local.option}`, { clock, style });
      expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
      if (command.startsWith('calls')) for (const id of Object.values(ids)) expect(out).toContain(id);
    }
  });

  it.each([
    ['--slow', 'soon', '--slow is a length of time'],
    ['--sort', 'size', '--sort is one of time, cost, ms'],
  ])('take no %s %s', async (option, value, message) => {
    const { code, error } = await operate(`calls ${option} ${value} ${local.option}`);
    expect([code, error]).toEqual([2, expect.stringContaining(message)]);
  });

  it('are given as CSV, all that are found, with what a spreadsheet would run as text', async () => {
    const { code, out } = await operate(`calls --csv --since 5d ${local.option}`, { clock });
    const [head, ...lines] = out.split('\n');
    expect([code, head?.split(',').slice(0, 3)]).toEqual([0, ['created_at', 'id', 'workspace']]);
    expect(lines.map((line) => /"([0-9a-f-]{36})"/.exec(line)?.[1])).toEqual([
      ...(await idsOf('--since 5d --limit 1000')),
    ]);
    expect(lines.find((line) => line.includes(ids.rescued))).toContain('"globex status_500 → acme"');
    expect(lines.find((line) => line.includes(ids.unasked))).toMatch(/,$/);
    expect((await operate(`calls --csv --limit 1 ${local.option}`, { clock })).out.split('\n')).toHaveLength(2);
  });

  it.each([
    ['--csv --json', 'two forms'],
    ['--csv --follow', 'give one'],
    ['--csv --sort cost', 'by time'],
    ['--follow --since 1h', 'begins now'],
  ])('refuse %s', async (options, part) => {
    const { code, error } = await operate(`calls ${options} ${local.option}`, { clock });
    expect([code, error]).toEqual([2, expect.stringContaining(part)]);
  });

  it('cannot be asked for without a bound', async () => {
    const { code, error } = await operate(`calls --limit 1001 ${local.option}`);
    expect([code, error]).toEqual([2, expect.stringContaining('--limit is at most 1000')]);
  });
});

describe('calls show', () => {
  it.each(['', ' --json'])(
    'lets nothing of what a client wrote steer the terminal or make a line of its own%s',
    async (json) => {
      for (const line of [`calls show ${hostileId}`, 'calls --since 5d', 'usage --since 5d --by tag:note']) {
        const { code, out, error } = await operate(`${line}${json} ${local.option}`, { clock });
        expect({ line, code, error }).toEqual({ line, code: 0, error: '' });
        expect(out).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
        expect(out).not.toMatch(/^status +ok/m);
        expect(out).toContain('owned');
      }
    },
  );

  it.each([ids.rescued, 'execution-rescued'])('%s gives all of the call with every attempt', async (id) => {
    const call = await operateJson<object>(`calls show ${id} ${local.option}`, { clock });
    expect(call).toMatchObject({
      id: ids.rescued,
      workspace: 'team',
      model: 'acme/small',
      provider: 'acme',
      attempts: [
        { provider: 'globex', outcome: 'status_500', status: 500, ms: 31, provider_text: 'out of order' },
        { provider: 'acme', outcome: 'ok', status: 200, ms: 12, schema_mismatch: '/items/0/price: required' },
      ],
      cost_usd: '0.000000000002',
      key_name: 'ci',
      title: 'Chat',
      user: 'u-7',
      error_code: null,
    });
    const { out } = await operate(`calls show ${id} ${local.option}`, { clock });
    expect(out).toMatch(
      /^ +1 +globex +status_500 +500 +31 +out of order\n +2 +acme +ok +200 +12 +the answer fails the schema at \/items\/0\/price: required$/m,
    );
  });

  it('says in one word how a call went that called no provider', async () => {
    const { out } = await operate(`calls show ${ids.unasked} ${local.option}`, { clock });
    expect(out).toMatch(/^status +400$/m);
    expect(out).toMatch(/^attempts: -$/m);
    expect(out).toMatch(/^error_message +There is no model "acme\/none"\.$/m);
    expect(out).toMatch(/^attempts: -$/m);
  });

  it('finds one of any day, and says that there is none', async () => {
    expect((await operate(`calls show ${ids.old} ${local.option}`, { clock })).code).toBe(0);
    const { code, out, error } = await operate(`calls show ${ids.old.replaceAll('5', '6')} ${local.option}`, { clock });
    expect([code, out, error]).toEqual([1, '', expect.stringContaining('there is no record of a call 66666666-')]);
    expect(error).toContain('of refused calls a process records at most 5 a second and key');
  });
});

describe('usage', () => {
  it('has columns for attempts by provider, for percentiles, and for what BYOK keys paid', async () => {
    const outOf = async (options: string) => (await operate(`usage ${options} ${local.option}`, { clock })).out;
    expect(await outOf('--since 1d --by provider')).toMatch(/^globex +0 +0 +0 +2 +2 /m);
    const byFunction = await outOf('--since 3d --by function');
    expect(byFunction).toMatch(/p50 ms +p95 ms +first p50 +first p95 .* BYOK USD/);
    expect(byFunction).toMatch(/^\(no function\) /m);
    expect(byFunction).toMatch(/^report +1 .* 12000 .* 0\.0065/m);
  });
});

// These tests come last, because they write more calls.
describe('calls that a guardrail blocked', () => {
  it("are distinguished from other refusals with the same code by the guardrail's id", async () => {
    const records = createCallRecords({ store: local.store, clock });
    const write = (id: string, action: 'block' | 'mask') =>
      records.write(
        callRecord({
          ...{
            correlationId: id,
            executionId: id,
            workspace: 'other',
            sessionId: 'guarded',
            outcome: 'invalid_request',
          },
          guardrails: [{ id: 'words', direction: 'input', action, ms: 3, checks: 1 }],
          arrivedAtMs: nowMs - 1_000,
        }),
      );
    await write('blocked-1', 'block');
    await write('masked-1', 'mask');
    const { out } = await operate(`calls --session guarded ${local.option}`, { clock });
    expect(out).toMatch(/ invalid_request \(guardrail words\) .* blocked-1$/m);
    expect(out).toMatch(/ invalid_request {2}.* masked-1$/m);
    const listed = await operateJson<object[]>(`calls --session guarded ${local.option}`, { clock });
    expect(listed).toMatchObject([
      { id: 'masked-1', blocked_by: null },
      { id: 'blocked-1', blocked_by: 'words' },
    ]);
    expect((await operate(`calls --session guarded --csv ${local.option}`, { clock })).out).toContain(',"words",');
  });
});

describe('calls by images, characters, seconds or search units', () => {
  it('say what was counted in place of tokens, through which interface, and both in all of one', async () => {
    const records = createCallRecords({ store: local.store, clock });
    const expectedUnits = [
      ['images', { images: 2 }, '2 images'],
      ['speech', { characters: 1_900 }, '1,900 characters'],
      ['transcriptions', { seconds: 2.5 }, '2.5 seconds'],
      ['rerank', { search_units: 1 }, '1 search unit'],
    ] as const;
    for (const [interfaceId, units] of expectedUnits) {
      const id = `${interfaceId}-1`;
      const tokens = { promptTokens: 31, completionTokens: 0 };
      const more = { correlationId: id, executionId: id, workspace: 'other', sessionId: 'counted' };
      await records.write(callRecord({ ...more, ...tokens, interfaceId, units, arrivedAtMs: nowMs - 1_000 }));
    }
    const { out } = await operate(`calls --session counted ${local.option}`, { clock });
    for (const [interfaceId, , words] of expectedUnits) {
      expect(out).toMatch(new RegExp(` ${words} +0\\.0065 +${interfaceId} +other/\\w+ +${interfaceId}-1$`, 'm'));
    }
    expect(out).not.toContain('31+0');
    const shownCall = (await operate(`calls show speech-1 ${local.option}`, { clock })).out;
    expect(shownCall).toMatch(/^units +1,900 characters$/m);
    expect(shownCall).toMatch(/^prompt_tokens +31$/m);
    const [listing] = await operateJson<object[]>(`calls --session counted --interface rerank ${local.option}`, {
      clock,
    });
    expect(listing).toMatchObject({ units: { search_units: 1 }, interface: 'rerank' });
    expect((await operate(`calls --session counted --csv ${local.option}`, { clock })).out).toContain('"seconds=2.5"');
  });
});

describe('calls that come in', () => {
  it.each(['', ' --json'])('are followed: the last ones, then each that has ended since, once%s', async (json) => {
    const records = createCallRecords({ store: local.store, clock });
    const id = json === '' ? 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa' : 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
    let looks = 0;
    const looking: Clock = {
      ...clock,
      after(_delayMs, callback) {
        looks += 1;
        // The operator at the terminal stops the command.
        if (looks > 2) throw new Error('stopped');
        const late = callRecord({ correlationId: id, executionId: id, workspace: 'other', arrivedAtMs: nowMs - 1_000 });
        void records.write(late).then(callback);
        return () => {};
      },
    };
    const { out, error } = await operate(`calls --follow --limit 1 --workspace other${json} ${local.option}`, {
      clock: looking,
    });
    expect(error).toContain('stopped');
    const lines = out.split('\n').filter((line) => line.includes(id));
    expect(lines).toHaveLength(1);
    if (json !== '') expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id, workspace: 'other' });
  });
});
