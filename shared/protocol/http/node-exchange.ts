// One request of the node:http server: read whole, handed to the gateway, answered, finished. Never rejects.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import { type AdapterDependencies, deliveryMaxMs, type StopReason } from './adapter.ts';
import { settledWithin } from './bounded-wait.ts';
import { deliverBody, releaseBody, runFinish } from './delivery.ts';
import type { Gateway, GatewayRequest, GatewayResponse } from './exchange.ts';
import { internalErrorAnswer } from './internal-error.ts';
import { discardRest, readBody } from './node-body.ts';

/** How long the last bytes may lie in our buffers before the connection of a reader that stopped is destroyed. */
const flushMaxMs = 10_000;

export interface NodeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** True once the server is closing: answers then end their connection. */
  readonly isClosing: () => boolean;
}

export async function runExchange(
  gateway: Gateway,
  exchange: NodeExchange,
  dependencies: AdapterDependencies,
): Promise<void> {
  const { incoming, outgoing } = exchange;
  const { clock, log } = dependencies;
  const arrivedAtMs = clock.nowMs();
  const gone = new AbortController();
  const clientGone: StopReason = 'client_gone';
  outgoing.on('error', () => {});
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort(clientGone);
  });
  const body = await readBody(incoming, plainBodyMaxBytes);
  if (body === undefined) return;
  const request: GatewayRequest = {
    method: incoming.method ?? '',
    path: pathOf(incoming.url ?? '/'),
    headers: incoming.headersDistinct as GatewayRequest['headers'],
    body,
    arrivedAtMs,
  };
  const response = await gateway(request, { clientGone: gone.signal }).catch((cause) =>
    internalErrorAnswer(cause, dependencies),
  );
  try {
    await send(response, exchange, { closes: body.kind === 'too_large', gone: gone.signal }, dependencies);
  } catch (cause) {
    log.error({ event: 'answer_failed' }, cause);
    outgoing.destroy();
  }
  await runFinish(response, dependencies);
}

async function send(
  response: GatewayResponse,
  { incoming, outgoing, isClosing }: NodeExchange,
  { closes, gone }: { closes: boolean; gone: AbortSignal },
  dependencies: AdapterDependencies,
): Promise<void> {
  const { clock } = dependencies;
  const overtime = new AbortController();
  const timeOver: StopReason = 'time_over';
  const cancelTimer = clock.after(deliveryMaxMs, () => overtime.abort(timeOver));
  try {
    const started = startAnswer(response, outgoing, closes || isClosing(), dependencies);
    if (started !== response || incoming.method === 'HEAD') await releaseBody(response, dependencies);
    if (incoming.method !== 'HEAD') {
      await deliverBody(started, outgoing, AbortSignal.any([gone, overtime.signal]), dependencies);
    }
    if (closes) await discardRest(incoming, clock);
  } finally {
    cancelTimer();
  }
  await endAnswer(outgoing, clock);
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
    // A stream's headers leave at once: its first chunk may be long in coming.
    if (typeof response.body !== 'string') outgoing.flushHeaders();
    return response;
  } catch (cause) {
    if (outgoing.headersSent) throw cause;
    const answer = internalErrorAnswer(cause, dependencies);
    outgoing.writeHead(answer.status, nodeHeaders(answer, true));
    return answer;
  }
}

const nodeHeaders = ({ headers, body }: GatewayResponse, closes: boolean): Record<string, string> => ({
  ...headers,
  ...(closes ? { connection: 'close' } : {}),
  ...(typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {}),
});

/** Ends the answer and waits until its last byte has left us, or the connection is gone. */
async function endAnswer(outgoing: ServerResponse, clock: AdapterDependencies['clock']): Promise<void> {
  const flushed = new Promise<void>((resolve) => {
    if (outgoing.destroyed) return resolve();
    outgoing.once('finish', resolve).once('close', resolve);
    outgoing.end();
  });
  if (!(await settledWithin(clock, flushed, flushMaxMs))) outgoing.destroy();
}

/** The path of a request line, which may also be a whole URL (a client that believes us to be its proxy). */
function pathOf(target: string): string {
  const [withoutQuery = '/'] = target.split('?', 1);
  return withoutQuery.replace(/^https?:\/\/[^/]*/i, '') || '/';
}
