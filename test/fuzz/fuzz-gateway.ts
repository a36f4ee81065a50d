// The gateway without a server, for many thousands of requests: every stage and the embedded DynamoDB are real, and
// only the provider is a function. A timer longer than the longest queue wait never fires, so a request that hangs
// fails its test.
import { createGateway } from '../../functions/gateway/routes.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import type { Transport, UpstreamRequest } from '../../shared/routing/providers/index.ts';
import { callGateway, type DirectRequest, type Reply } from '../support/call-gateway.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { fuzzFile } from './fuzz-file.ts';

/** A provider's answer: the head, and the body in the pieces in which it arrives. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
  /** Whether the connection breaks after the last piece. */
  readonly breaks?: boolean;
}

export type Upstream = (request: UpstreamRequest) => UpstreamReply;

export type FuzzRequest = Omit<DirectRequest, 'arrivedAtMs'>;

export interface FuzzGateway {
  readonly harness: Harness;
  /** Calls the gateway. `leavesAfter`: the client hangs up after this number of pieces of a stream. */
  ask(request: FuzzRequest, upstream: Upstream | Transport, leavesAfter?: number): Promise<Reply>;
  readonly callCount: () => number;
}

/** Longer timers are limits for slow work, and nothing is slow here. */
const longestWaitMs = 400;
const patientClock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => (delayMs > longestWaitMs ? () => {} : systemClock.after(delayMs, callback)),
};

export async function startFuzzGateway(): Promise<FuzzGateway> {
  const harness = await startHarness({ ...fuzzFile, clock: patientClock });
  let count = 0;
  return {
    harness,
    callCount: () => count,
    async ask(message, upstream, leavesAfter) {
      count += 1;
      const transport = typeof upstream === 'function' ? transportOf(upstream) : upstream;
      const gateway = createGateway({ ...harness.composition, transport });
      const request = { ...message, arrivedAtMs: patientClock.nowMs() };
      return callGateway(gateway, request, { disconnectsAfter: leavesAfter });
    },
  };
}

function transportOf(upstream: Upstream): Transport {
  return {
    close: () => {},
    async send(request) {
      const { status, headers, pieces, breaks = false } = upstream(request);
      async function* body() {
        for (const piece of pieces) {
          if (request.signal.aborted) throw new Error('aborted');
          yield Buffer.from(piece);
        }
        if (breaks) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
      }
      return { status, headers, body: body(), drain: () => {} };
    },
  };
}
