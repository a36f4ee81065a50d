// 60 mixed calls under each kind of storm, and the invariants afterwards. GW_FAULT_SEED=n makes other storms.
import { afterAll, beforeAll, expect, it } from '#jest';
import { describeOnDynamo } from '../support/dynamodb.ts';
import { spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';
import { checkWellAnswered, saysItBroke } from '../support/well-answered.ts';
import { retryAll, standingAfterTheLease } from './after-the-lease.ts';
import { askGateway } from './ask-gateway.ts';
import { brokenSums, overspent, readAccounts, standingHolds, workspaces } from './books.ts';
import { aloneModel } from './fault-file.ts';
import { type FaultHarness, shardCredit, startFaultHarness } from './fault-harness.ts';
import type { FaultPlan } from './faulty-client.ts';
import { mixCalls } from './mixed-calls.ts';
import { faultSeed, seededRandom } from './seeded-random.ts';
import { type SentCall, serve } from './send-calls.ts';
import { storms } from './storms.ts';
import { addedMarks } from './witness.ts';

/** With this number every kind of call occurs several times. */
const callsPerStorm = 60;
const atOnce = 20;

/** Outcomes that every storm must show; otherwise the calls were not mixed. */
const outcomes = ['200', '402', '409', '429', '502', 'left'];

const everyFormat = [...spokenInterfaces, ...translatedInterfaces].map(({ api }) => api);

const totals = { calls: 0, faults: 0, answers: new Map<string, number>(), formats: new Set<string>() };

afterAll(() => {
  const answers = [...totals.answers].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([of, count]) => `${count} × ${of}`);
  const summary = `${totals.calls} calls in ${storms.length} storms, ${totals.faults} store faults, seed ${faultSeed}`;
  process.stderr.write(`faults: ${summary}: ${answers.join(', ')}\n`);
});

interface Passed {
  readonly harness: FaultHarness;
  readonly sentCalls: readonly SentCall[];
}

/** Two thirds of a storm's time are waits for silent providers, so several storms run at once. */
const stormsAtOnce = 3;
const underWay: Promise<Passed>[] = [];

async function passStorm(index: number): Promise<Passed> {
  const storm = storms[index] as (typeof storms)[number];
  const harness = await startFaultHarness({ behaviours: storm.behaviours });
  await shardCredit(harness);
  const random = seededRandom(faultSeed + index);
  const plan = storm.plan(random);
  const countingPlan: typeof plan = (command) => {
    const fault = plan(command);
    if (fault !== undefined) totals.faults += 1;
    return fault;
  };
  const gateway = harness.open({ plan: countingPlan });
  const server = await serve(gateway, harness.keys);
  const first = storm.first?.(random) ?? [];
  const count = Math.max(callsPerStorm, first.length + callsPerStorm / 2);
  const calls = mixCalls(random, count, storm.behaviours, first);
  const now = await server.send(
    calls.filter(({ comesLater = false }) => !comesLater),
    atOnce,
  );
  await server.settled();
  const later = await server.send(
    calls.filter(({ comesLater = false }) => comesLater),
    atOnce,
  );
  await server.settled();
  const sentCalls = [...now, ...later];
  await server.close();
  for (const { reply } of sentCalls) {
    const name = reply === undefined ? 'left' : String(reply.status);
    totals.answers.set(name, (totals.answers.get(name) ?? 0) + 1);
  }
  totals.calls += sentCalls.length;
  for (const { format } of harness.simulator.calls) totals.formats.add(String(format));
  return { harness, sentCalls };
}

describeOnDynamo.each(storms.map((storm, index) => ({ ...storm, index })))('while $name', (storm) => {
  const seed = faultSeed + storm.index;
  let harness: FaultHarness;
  let sentCalls: readonly SentCall[];
  /** Every failure prints the seed, with which the storm can be repeated. */
  const context = { seed };

  beforeAll(async () => {
    for (const next of storms.keys().filter((one) => one >= storm.index && one < storm.index + stormsAtOnce)) {
      underWay[next] ??= passStorm(next);
      underWay[next].catch(() => {});
    }
    ({ harness, sentCalls } = await (underWay[storm.index] ?? passStorm(storm.index)));
  });
  afterAll(() => harness.stop());

  it('every answer is an envelope or a stream that ends well', () => {
    for (const { reply } of sentCalls) if (reply !== undefined) checkWellAnswered(reply, { faults: [502, 503, 504] });
    const servedCalls = sentCalls.filter(({ reply }) => reply?.status === 200);
    expect({ ...context, served: servedCalls.length > callsPerStorm / 10 }).toEqual({ ...context, served: true });
  });

  it('no counter gains or loses anything, and no call overspends', async () => {
    expect({ ...context, broken: await brokenSums(harness) }).toEqual({ ...context, broken: [] });
    expect({ ...context, over: await overspent(harness) }).toEqual({ ...context, over: [] });
  });

  it('nothing is settled twice, and the records add up to the credit spent', async () => {
    for (const workspace of workspaces) {
      const accounts = await readAccounts(harness, workspace);
      expect({ ...context, ...accounts }).toMatchObject({ ...context, twice: [], unexplained: 0n, different: [] });
      // Each lost settlement is one that the operator reads of. A busy machine may outlast a settlement even if the
      // storm does not.
      const lostSettlements = harness.logLines.filter((line) => line.includes('settlement_failed'));
      expect(accounts.incomplete.length).toBeLessThanOrEqual(lostSettlements.length);
      if (storm.outlastsSettlement !== true && lostSettlements.length === 0) {
        expect({ ...context, ...accounts }).toMatchObject({ incomplete: [], recorded: accounts.spent });
      }
    }
  });

  it('nothing runs twice under one Idempotency-Key', () => {
    const { simulator, witness, logLines } = harness;
    const lossLines = logLines.filter((line) => line.includes('result_not_stored'));
    expect(lossLines.filter((line) => !line.includes('"failed_control":"result"'))).toEqual([]);
    const lossCount = lossLines.length;
    const again: string[] = [];
    for (const [recordKey, calls] of Map.groupBy(sentCalls, ({ call }) => call.idempotent?.recordKey)) {
      const marker = calls[0]?.call.idempotent?.marker;
      if (recordKey === undefined || marker === undefined) continue;
      const executions = simulator.calls.filter(({ bodyText }) => bodyText.includes(marker)).length;
      expect(executions).toBeLessThanOrEqual(witness.claims.get(recordKey)?.length ?? 0);
      const fresh = calls.filter(({ reply }) => reply !== undefined && isFreshAnswer(reply)).length;
      for (let extra = 1; extra < fresh; extra += 1) again.push(recordKey);
    }
    // A client gets an answer that could not be stored, and its key runs again.
    expect(again.length).toBeLessThanOrEqual(lossCount);
  });

  it('a key whose calls have ended is free: its answer is replayed, or the next call runs', () => {
    const waiting = sentCalls.filter(({ call, reply }) => call.comesLater === true && reply?.status === 409);
    // Reservations that no retry could release stay until the lease ends, and the log reports them.
    const failures = harness.logLines.filter((line) => /deferred_task_failed|settlement_failed/.test(line)).length;
    expect({ ...context, waiting: waiting.length, isTold: waiting.length <= failures }).toMatchObject({ isTold: true });
  });

  it('nothing is held when the leases are over, and every key can run again', async () => {
    expect({ ...context, standing: await standingAfterTheLease(harness) }).toEqual({ ...context, standing: [] });
    const statuses = await retryAll(
      harness,
      sentCalls.map(({ call }) => call),
    );
    expect(statuses).not.toContain(409);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect({ ...context, broken: await brokenSums(harness) }).toEqual({ ...context, broken: [] });
  });
});

describeOnDynamo('a call beyond the requests of its key', () => {
  /** The number is above the attempts of a failed call, because a throttled call is repeated for longer. */
  const refusals = 6;

  it('leaves no hold on the credit, though the store throttles the return: that does not wait for the lease', async () => {
    const harness = await startFaultHarness();
    let remaining = 0;
    const plan: FaultPlan = ({ table, input }) => {
      const gives = table === 'ledger' && addedMarks(input).length > 0;
      if (!gives || remaining === 0) return undefined;
      remaining -= 1;
      return 'throttled';
    };
    const { gateway } = harness.open({ plan });
    const body = { model: aloneModel('echo'), messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 };
    const call = { key: 'rateLimited', body, headers: {} } as const;
    const ask = () => askGateway(gateway, call, harness.keys, harness.clock);
    expect((await ask()).status).toBe(200);
    remaining = refusals;
    const { status } = await ask();
    expect({ status, remaining }).toEqual({ status: 429, remaining: 0 });
    expect(await standingHolds(harness)).toEqual([]);
    expect(harness.simulator.calls).toHaveLength(1);
    await harness.stop();
  });
});

/** Returns whether this is a complete answer that was made for this very request. */
const isFreshAnswer = ({ status, headers, text }: NonNullable<SentCall['reply']>): boolean =>
  status === 200 && headers['idempotent-replayed'] === undefined && !saysItBroke(text);

describeOnDynamo('all storms together', () => {
  it('bring about every outcome, in every format', () => {
    expect([...totals.answers.keys()]).toEqual(expect.arrayContaining(outcomes));
    expect([...totals.formats]).toEqual(expect.arrayContaining(everyFormat));
    expect(totals.faults).toBeGreaterThan(callsPerStorm);
  });
});
