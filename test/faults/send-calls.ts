// Clients of the fault suite, over HTTP, several at a time; some of them disconnect in the middle.
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import type { Reply } from '../support/call-gateway.ts';
import { type GatewayServer, serveGateway } from '../support/serve-gateway.ts';
import { aloneModel, type Keys, silentBehaviours } from './fault-file.ts';
import type { FaultyGateway } from './fault-harness.ts';
import type { MixedCall } from './mixed-calls.ts';

export interface SentCall {
  readonly call: MixedCall;
  /** Undefined if the client left before it had everything. */
  readonly reply: Reply | undefined;
}

export interface Server extends GatewayServer {
  send(calls: readonly MixedCall[], atOnce: number): Promise<readonly SentCall[]>;
}

/** The share of a call's budget of 55 s that has passed when the call arrives. */
const arrivedBeforeMs = 10_000;
/** The same share for a silent provider, whose call only the budget ends. */
const silentArrivedBeforeMs = 54_000;
const isSilent = ({ model }: MixedCall['body']): boolean =>
  silentBehaviours.some((behaviour) => String(model).endsWith(aloneModel(behaviour)));
const silentQuery = 'silent';

export async function serve({ gateway, composition }: FaultyGateway, keys: Keys): Promise<Server> {
  const server = await serveGateway(composition, (request, context) =>
    gateway(
      {
        ...request,
        arrivedAtMs: request.arrivedAtMs - (request.query === silentQuery ? silentArrivedBeforeMs : arrivedBeforeMs),
      },
      context,
    ),
  );
  return {
    ...server,
    async send(calls, atOnce) {
      const waiting = [...calls.entries()];
      const sentCalls: SentCall[] = [];
      const client = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [at, call] = next;
          sentCalls[at] = { call, reply: await sendOne(server.url, call, keys) };
        }
      };
      await Promise.all(Array.from({ length: atOnce }, client));
      return sentCalls;
    },
  };
}

/** Sends one call and reads its answer to the end. */
async function sendOne(url: string, call: MixedCall, keys: Keys): Promise<Reply | undefined> {
  const client = new AbortController();
  const done = new AbortController();
  if (call.leavesAfterMs !== undefined) {
    void sleep(systemClock, call.leavesAfterMs, done.signal).then(() => client.abort());
  }
  const query = isSilent(call.body) ? `?${silentQuery}` : '';
  try {
    const response = await fetch(`${url}${call.path ?? '/chat/completions'}${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[call.key]}`, 'content-type': 'application/json', ...call.headers },
      body: JSON.stringify(call.body),
      signal: client.signal,
    });
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
    return { status: response.status, headers, text, isStream };
  } catch (error) {
    if (client.signal.aborted) return undefined;
    throw error;
  } finally {
    done.abort();
  }
}
