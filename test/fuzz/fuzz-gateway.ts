// The core without any server around it, for many thousands of requests: every stage and the embedded DynamoDB are
// real, only the provider is a function. Nothing here waits: a timer of more than a queue's wait never fires, so what
// hangs hangs for good and fails the test that waits for it.
import { createChatGateway } from '../../functions/chat-completions/routes.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import type { GatewayRequest } from '../../shared/protocol/http/index.ts';
import type { Transport, UpstreamRequest } from '../../shared/routing/providers/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { fuzzFile } from './fuzz-file.ts';

/** What a provider answers: head, and the body in the pieces in which it arrives. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
  /** The connection breaks behind the last piece. */
  readonly breaks?: boolean;
}

export type Upstream = (request: UpstreamRequest) => UpstreamReply;

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, read to its end, or to where the client left. */
  readonly text: string;
  readonly isStream: boolean;
}

export interface FuzzGateway {
  readonly harness: Harness;
  /** `leavesAfter`: the client hangs up when it has read so many pieces of a stream. */
  ask(asked: Asked, upstream: Upstream | Transport, leavesAfter?: number): Promise<Reply>;
  readonly asked: () => number;
}

/** Longer timers are limits that only something slow meets, and nothing is slow here. */
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
    asked: () => count,
    async ask({ method = 'POST', path = '/v1/chat/completions', headers, body }, upstream, leavesAfter) {
      count += 1;
      const transport = typeof upstream === 'function' ? transportOf(upstream) : upstream;
      const gateway = createChatGateway({ ...harness.runtime, transport });
      const client = new AbortController();
      const bytes = Buffer.from(body);
      const request: GatewayRequest = {
        method,
        path,
        headers,
        readBody: async () => bytes,
        arrivedAtMs: patientClock.nowMs(),
      };
      const response = await gateway(request, { clientGone: client.signal });
      const isStream = typeof response.body !== 'string';
      const text = await readBody(response.body, leavesAfter, client);
      await response.finish?.();
      return { status: response.status, headers: response.headers, text, isStream };
    },
  };
}

/** Reads as the adapters do: on, until the end or until the client has left, and then stops. */
async function readBody(
  body: string | AsyncIterable<string>,
  leavesAfter: number | undefined,
  client: AbortController,
): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  let pieces = 0;
  for await (const piece of body) {
    text += piece;
    pieces += 1;
    if (pieces !== leavesAfter) continue;
    client.abort('client_gone');
    break;
  }
  return text;
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
