// One request of the node:http server: handed to the gateway, answered, finished. Never rejects.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { waitAtMost } from '../../foundation/time/index.ts';
import { closeBody, deliverBody, encodingOf, runFinish } from './delivery.ts';
import { internalErrorAnswer } from './error-answers.ts';
import {
  type AdapterDependencies,
  type Gateway,
  type GatewayRequest,
  type GatewayResponse,
  queryOf,
} from './exchange.ts';
import { declaredBytes, discardRest, hasLongRest, type IncomingBody } from './node-body.ts';
import { pathOf } from './node-refusals.ts';
import { unreadSink } from './unread-sink.ts';

/** How long the last bytes may lie in our buffers before the connection of a reader that stopped is destroyed. */
const flushMaxMs = 10_000;

interface NodeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: IncomingBody;
  readonly keyFound: () => void;
  /** Whether the connection ends with this answer: the server is closing, say. */
  readonly endsConnection: () => boolean;
  /** Aborts when calls that still run are cut. */
  readonly cut: AbortSignal;
}

export async function runExchange(
  gateway: Gateway,
  exchange: NodeExchange,
  dependencies: AdapterDependencies,
): Promise<void> {
  const { incoming, outgoing, body, keyFound, cut } = exchange;
  const { clock, log } = dependencies;
  const arrivedAtMs = clock.nowMs();
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  const request: GatewayRequest = {
    method: incoming.method ?? '',
    path: pathOf(incoming.url ?? '/'),
    query: queryOf(incoming.url ?? '/'),
    headers: incoming.headersDistinct as GatewayRequest['headers'],
    declaredBodyBytes: declaredBytes(incoming),
    readBody: body.read,
    arrivedAtMs,
  };
  const context = { clientGone: gone.signal, keyFound, cut, refusal: body.fault() };
  const response = await gateway(request, context).catch((cause) => internalErrorAnswer(cause, dependencies));
  let flushed: Promise<void> | undefined;
  try {
    await send(response, exchange, { arrivedAtMs, clientGone: gone.signal }, dependencies);
    flushed = endAnswer(outgoing, clock);
  } catch (cause) {
    log.error({ event: 'answer_failed' }, cause);
    outgoing.destroy();
  }
  // A reader that leaves the last bytes in our buffers does not keep its call from settling.
  await Promise.all([flushed, runFinish(response, dependencies)]);
}

async function send(
  response: GatewayResponse,
  { incoming, outgoing, endsConnection }: NodeExchange,
  times: { readonly arrivedAtMs: number; readonly clientGone: AbortSignal },
  dependencies: AdapterDependencies,
): Promise<void> {
  const closes = hasLongRest(incoming);
  const started = startAnswer(response, outgoing, closes || endsConnection(), dependencies);
  if (started !== response || incoming.method === 'HEAD') await closeBody(response, dependencies);
  if (incoming.method !== 'HEAD') {
    const text = typeof started.body === 'string' ? started.body : '';
    const sink = response.memory === undefined ? outgoing : unreadSink(outgoing, response.memory, text);
    const cut = () => outgoing.destroy();
    await deliverBody({ response: started, sink, cut, ...times }, dependencies);
    // Node delays a text until the end of the answer, and writes both as a list of pieces, which makes a call 5 %
    // dearer.
    if (typeof started.body === 'string') outgoing.socket?.uncork();
  }
  if (closes) await discardRest(incoming, dependencies.clock);
}

/** Writes status and headers. Headers that cannot be written (a line feed in a value) become the 500 instead. */
function startAnswer(
  response: GatewayResponse,
  outgoing: ServerResponse,
  closes: boolean,
  dependencies: AdapterDependencies,
): GatewayResponse {
  try {
    outgoing.writeHead(response.status, nodeHeaders(response, closes));
    if (typeof response.body !== 'string') flushSoon(outgoing);
    return response;
  } catch (cause) {
    if (outgoing.headersSent) throw cause;
    const answer = internalErrorAnswer(cause, dependencies);
    outgoing.writeHead(answer.status, nodeHeaders(answer, true));
    return answer;
  }
}

/**
 * Sends a stream's headers without waiting for a chunk, which may take long; a chunk that is there already leaves with
 * them.
 */
function flushSoon(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  socket?.cork();
  outgoing.flushHeaders();
  process.nextTick(() => socket?.uncork());
}

const nodeHeaders = ({ headers, body }: GatewayResponse, closes: boolean): Record<string, string> => ({
  ...headers,
  ...(closes ? { connection: 'close' } : {}),
  ...(typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body, encodingOf({ headers }))) } : {}),
});

/** Ends the answer and waits until its last byte has left us, or the connection is gone. */
async function endAnswer(outgoing: ServerResponse, clock: AdapterDependencies['clock']): Promise<void> {
  const flushed = new Promise<void>((resolve) => {
    if (outgoing.destroyed) return resolve();
    outgoing.once('finish', resolve).once('close', resolve);
    outgoing.end();
  });
  await waitAtMost(clock, flushMaxMs, flushed, () => outgoing.destroy());
}
