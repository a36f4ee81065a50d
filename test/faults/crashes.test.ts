// The process dies nine times while calls of every kind run: between its first and its last command to the store, when
// its last command is done and only the answer is lost, or when a client has its answer. Another process follows.
// GW_FAULT_SEED=n selects other points.
import { afterAll, beforeAll, expect, it } from '#jest';
import type { Reply } from '../support/call-gateway.ts';
import { type DyingProcess, dyingProcess } from '../support/dying-process.ts';
import { describeOnDynamo } from '../support/dynamodb.ts';
import { readRecords } from '../support/read-records.ts';
import { checkWellAnswered, saysItBroke } from '../support/well-answered.ts';
import { retryAll, standingAfterTheLease } from './after-the-lease.ts';
import { askGateway } from './ask-gateway.ts';
import { brokenSums, overspent, readAccounts, workspaces } from './books.ts';
import { type FaultHarness, shardCredit, startFaultHarness } from './fault-harness.ts';
import { type MixedCall, mixCalls } from './mixed-calls.ts';
import { faultSeed, seededRandom } from './seeded-random.ts';

/**
 * Each of the three ways to die occurs three times, over the length of a life: a run that is shorter than two seconds
 * has some 150 points.
 */
const crashes = 9;
const callsPerCrash = 14;
/** Some of the calls go to failing providers. */
const providerFaults = [502];
const behaviours = ['echo', 'reasoning', 'usage-on-content', 'two-choices'];

interface Answered {
  readonly call: MixedCall;
  readonly reply: Reply;
}

interface Life {
  /** Calls whose client had the whole answer. */
  readonly answers: readonly Answered[];
  /** Calls that were settled too. */
  readonly ended: readonly Answered[];
}

let harness: FaultHarness;
const totals = { crashes: 0, ended: 0, unfinished: 0, replayed: 0, refused: 0 };

/** Runs the calls until all have ended or the process is dead. */
async function runUntilDeath(
  dying: DyingProcess,
  calls: readonly MixedCall[],
  onAnswer: (answer: Answered) => void = () => {},
): Promise<Life> {
  const { gateway } = harness.open({ wrap: dying.wrap });
  const answers: Answered[] = [];
  const ended: Answered[] = [];
  const running = calls.map(async (call) => {
    const reply = await askGateway(gateway, call, harness.keys, harness.clock, (reply) => {
      answers.push({ call, reply: reply });
      onAnswer({ call, reply: reply });
    });
    ended.push({ call, reply });
  });
  await Promise.race([Promise.all(running), dying.death]);
  return { answers: [...answers], ended: [...ended] };
}

const withMarker = (marker: string): number =>
  harness.simulator.calls.filter(({ bodyText }) => bodyText.includes(marker)).length;

const claimsOf = (recordKey: string): number => harness.witness.claims.get(recordKey)?.length ?? 0;

/** Retries the calls half a lease later, in another process. */
async function retryWithinTheLease(calls: readonly MixedCall[], { answers }: Life): Promise<void> {
  harness.advance(30_000);
  const { gateway } = harness.open();
  const callsByKey = Map.groupBy(calls, ({ idempotent }) => idempotent?.recordKey);
  for (const [recordKey, [call]] of callsByKey) {
    if (recordKey === undefined || call?.idempotent === undefined) continue;
    const had = answers.find((one) => one.call.idempotent?.recordKey === recordKey && isComplete(one.reply));
    const reply = await askGateway(gateway, call, harness.keys, harness.clock);
    checkWellAnswered(reply, { faults: providerFaults });
    if (had !== undefined) expect(reply.text).toBe(had.reply.text);
    if (reply.status === 409) expect(reply.text).toContain('execution_in_progress');
    if (reply.status === 409) totals.refused += 1;
    if (reply.headers['idempotent-replayed'] === 'true') totals.replayed += 1;
    const { marker } = call.idempotent;
    if (marker !== undefined) expect(withMarker(marker)).toBeLessThanOrEqual(claimsOf(recordKey));
  }
}

describeOnDynamo('a process that dies', () => {
  beforeAll(async () => {
    harness = await startFaultHarness({ behaviours });
    await shardCredit(harness);
  });
  afterAll(async () => {
    await harness.stop();
    const { ended, unfinished, replayed, refused } = totals;
    process.stderr.write(
      `crashes: ${totals.crashes} deaths, seed ${faultSeed}: ${ended} calls had ended, ${unfinished} had not; ` +
        `${replayed} answers replayed, ${refused} retries told to wait\n`,
    );
  });

  const random = seededRandom(faultSeed);
  const finished: string[] = [];
  let eventsOfALife = 0;

  beforeAll(async () => {
    const survivor = dyingProcess({ at: Number.POSITIVE_INFINITY, lastOneRuns: true });
    await runUntilDeath(survivor, mixCalls(random, callsPerCrash, behaviours).map(staying));
    eventsOfALife = survivor.events();
  });

  /**
   * Runs a life that ends at a point. The points are spread over a whole life; in every second life the last command
   * runs, and every third time the process dies at an answer.
   */
  function die(crash: number, calls: readonly MixedCall[]): Promise<Life> {
    if (crash % 3 === 2) {
      const dying = dyingProcess({ at: Number.POSITIVE_INFINITY, lastOneRuns: false });
      const isLast = ({ call, reply }: Answered) => call.idempotent !== undefined && isComplete(reply);
      return runUntilDeath(dying, calls, (answer) => void (isLast(answer) && dying.kill()));
    }
    const at = 1 + Math.floor(((crash + random.fraction()) / crashes) * eventsOfALife);
    return runUntilDeath(dyingProcess({ at, lastOneRuns: crash % 3 === 0 }), calls);
  }

  async function dieOnce(crash: number): Promise<void> {
    const context = { seed: faultSeed, crash };
    const calls = random.shuffled(mixCalls(random, callsPerCrash, behaviours)).map(staying);
    const life = await die(crash, calls);
    for (const { reply } of life.answers) checkWellAnswered(reply, { faults: providerFaults });
    expect({ ...context, broken: await brokenSums(harness) }).toEqual({ ...context, broken: [] });
    await retryWithinTheLease(calls, life);
    expect({ ...context, standing: await standingAfterTheLease(harness) }).toEqual({ ...context, standing: [] });
    const refusal = (await retryAll(harness, calls)).filter((status) => status === 409);
    expect({ ...context, refused: refusal }).toEqual({ ...context, refused: [] });
    finished.push(...life.ended.map(({ reply }) => reply.headers['x-request-id'] ?? ''));
    totals.crashes += 1;
    totals.ended += life.ended.length;
    totals.unfinished += calls.length - life.ended.length;
  }

  it.each(Array.from({ length: crashes }, (_, crash) => crash + 1))(
    'for the %s. time leaves nothing that the next one does not put right by serving',
    (crash) => dieOnce(crash - 1),
  );

  it('keeps every counter whole, and lets no call overspend', async () => {
    expect(await brokenSums(harness)).toEqual([]);
    expect(await overspent(harness)).toEqual([]);
  });

  it('settles no call twice, and parts record and credit only of calls it did not finish', async () => {
    let incomplete = 0;
    for (const workspace of workspaces) {
      const accounts = await readAccounts(harness, workspace);
      expect(accounts).toMatchObject({ twice: [], unexplained: 0n, different: [] });
      const records = await readRecords(harness.operator, workspace);
      const finishedOwners = records
        .filter(({ correlationId }) => finished.includes(correlationId))
        .map(({ executionId }) => executionId);
      expect(accounts.incomplete.filter((owner) => finishedOwners.includes(owner))).toEqual([]);
      incomplete += accounts.incomplete.length;
    }
    expect(incomplete).toBeLessThanOrEqual(totals.unfinished);
  });
});

/** Returns whether the client had the whole answer, which it then gets again. */
const isComplete = ({ status, text }: Reply): boolean => status === 200 && !saysItBroke(text);

/** Returns the call without its client's hang-up: here only the process dies. */
const staying = (call: MixedCall): MixedCall => ({ ...call, leavesAfterMs: undefined });
