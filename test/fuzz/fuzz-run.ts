// Runs generated requests in batches, checks every answer, and counts. One seed gives one run; GW_FUZZ_SEED selects
// others.
import fc from 'fast-check';
import type { Composition } from '../../shared/composition/index.ts';
import type { Transport } from '../../shared/routing/providers/index.ts';
import type { Reply } from '../support/call-gateway.ts';
import { type AnswerExpectation, checkWellAnswered } from '../support/well-answered.ts';
import { type FuzzRequest, startFuzzGateway, type Upstream } from './fuzz-gateway.ts';

const seed = Number(process.env.GW_FUZZ_SEED ?? 20_260_601);
const times = Number(process.env.GW_FUZZ_TIMES ?? 1);
/** The number of simultaneous requests. */
const batch = 50;

export interface Case extends AnswerExpectation {
  readonly request: FuzzRequest;
  readonly upstream: Upstream | Transport;
  /** The client hangs up after this number of pieces of a stream. */
  readonly leavesAfter?: number | undefined;
}

export interface FuzzRun {
  readonly key: string;
  readonly composition: Composition;
  readonly logLines: readonly string[];
  /** Counts of answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly callCount: () => number;
  /** Runs one request. Rejects if its answer is not well formed. */
  run(one: Case): Promise<Reply>;
  /** Runs at least this number of generated requests, in whole batches. */
  runAll(requests: number, cases: fc.Arbitrary<Case>): Promise<void>;
  /** Judges every number below `end`, in batches. */
  overAll(end: number, judge: (at: number) => Promise<void>): Promise<void>;
  /** Stops the gateway, and prints in one line what was done. */
  stop(): Promise<void>;
}

export const bytesOf = (body: unknown): Uint8Array => Buffer.from(JSON.stringify(body) ?? '');

export async function startFuzzRun(): Promise<FuzzRun> {
  const { harness, ask, callCount: count } = await startFuzzGateway();
  const statuses = new Map<number, number>();

  async function run({ request, upstream, leavesAfter, ...expectation }: Case): Promise<Reply> {
    const reply = await ask(request, upstream, leavesAfter);
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    try {
      checkWellAnswered(reply, { ...expectation, hasLeft: leavesAfter !== undefined });
    } catch (error) {
      throw new Error(`${(error as Error).message}\nseed ${seed}, request ${tell(request)}`);
    }
    return reply;
  }

  const runAll = (requests: number, cases: fc.Arbitrary<Case>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: batch, maxLength: batch }), async (some) => {
        await Promise.all(some.map(run));
      }),
      { seed, numRuns: Math.ceil((times * requests) / batch), endOnFailure: true },
    );

  async function overAll(end: number, judge: (at: number) => Promise<void>): Promise<void> {
    for (let from = 0; from < end; from += batch) {
      await Promise.all(Array.from({ length: Math.min(batch, end - from) }, (_, index) => judge(from + index)));
    }
  }
  return {
    key: harness.key,
    composition: harness.composition,
    logLines: harness.logLines,
    statuses,
    callCount: count,
    run,
    runAll,
    overAll,
    async stop() {
      await harness.stop();
      const statusCounts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`);
      process.stderr.write(`fuzz: ${count()} requests, seed ${seed}: ${statusCounts.join(', ')}\n`);
    },
  };
}

const tell = ({ headers, body }: FuzzRequest): string =>
  JSON.stringify({ headers, body: Buffer.from(body).toString('latin1').slice(0, 4_000) });
