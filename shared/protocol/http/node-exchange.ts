// Handles one request of a server. Passes the request to the gateway, sends the answer, and calls `finish`. Never
// rejects.
import type { AnswerPort } from './answer-port.ts';
import { closeBody, type Delivery, deliverBody, runFinish } from './delivery.ts';
import { internalErrorAnswer } from './error-answers.ts';
import type { AdapterDependencies, Gateway, GatewayRequest, GatewayResponse } from './exchange.ts';
import type { IncomingBody } from './node-body.ts';

/**
 * Longest time that the last bytes may stay in the server's buffers before the connection of a reader that stopped is
 * destroyed.
 */
const flushMaxMs = 10_000;

export interface NodeExchange {
  readonly head: Pick<GatewayRequest, 'method' | 'path' | 'query' | 'headers' | 'scheme' | 'declaredBodyBytes'>;
  readonly body: IncomingBody;
  readonly answer: AnswerPort;
  readonly keyFound: () => void;
  /** Aborts when running calls are cut off. */
  readonly cut: AbortSignal;
}

export async function runExchange(
  gateway: Gateway,
  exchange: NodeExchange,
  dependencies: AdapterDependencies,
): Promise<void> {
  const { head, body, answer, keyFound, cut } = exchange;
  const { clock, log } = dependencies;
  const arrivedAtMs = clock.nowMs();
  const disconnect = new AbortController();
  answer.onGone(() => disconnect.abort());
  const request: GatewayRequest = { ...head, readBody: body.read, arrivedAtMs };
  const context = { clientGone: disconnect.signal, keyFound, cut, refusal: body.fault() };
  let response: GatewayResponse | undefined;
  try {
    response = await gateway(request, context);
  } catch (cause) {
    response = internalErrorAnswer(cause, dependencies);
  }
  let flushed: Promise<void> | undefined;
  try {
    await send(response, exchange, { arrivedAtMs, clientGone: disconnect.signal }, dependencies);
    flushed = endAnswer(answer, clock);
  } catch (cause) {
    log.error({ event: 'answer_failed' }, cause);
    answer.cut();
  }
  const { finish } = response;
  // The call is settled for some time, in which nothing may refer to the answer.
  response = undefined;
  // A reader that leaves the last bytes in the server's buffers does not prevent its call from settling.
  const finished = runFinish({ finish }, dependencies);
  if (flushed !== undefined) await flushed;
  if (finished !== undefined) await finished;
}

async function send(
  response: GatewayResponse,
  { head, answer }: NodeExchange,
  times: { readonly arrivedAtMs: number; readonly clientGone: AbortSignal },
  dependencies: AdapterDependencies,
): Promise<void> {
  const isHead = head.method === 'HEAD';
  const started = beginAnswer(response, answer, dependencies);
  if (started !== response || isHead) await closeBody(response, dependencies);
  if (!isHead) {
    const { stream: sink, cut } = answer;
    const onFull = response.memory && countUnread(answer, response.memory);
    const delivery = deliverBody({ response: started, sink, cut, onFull, ...times }, dependencies);
    if (delivery !== undefined) await delivery;
    if (typeof started.body === 'string') answer.flush();
  }
  const requestEnd = answer.endRequest();
  if (requestEnd !== undefined) await requestEnd;
}

/** Counts what the client has not read of its answer, from each write that finds the stream full until it is read. */
function countUnread(
  { stream, cut }: Pick<AnswerPort, 'stream' | 'cut'>,
  memory: NonNullable<GatewayResponse['memory']>,
): Delivery['onFull'] {
  stream.on('drain', () => memory.moveOn()).once('close', () => memory.endReading());
  return (restBytes) => {
    if (!stream.destroyed) memory.standStill(stream.writableLength + restBytes, cut);
  };
}

/** Begins the answer. Headers that cannot be written (a line feed in a value) make it a 500 instead. */
function beginAnswer(
  response: GatewayResponse,
  answer: AnswerPort,
  dependencies: AdapterDependencies,
): GatewayResponse {
  try {
    answer.begin(response);
    return response;
  } catch (cause) {
    const fault = internalErrorAnswer(cause, dependencies);
    answer.begin(fault);
    return fault;
  }
}

/** Ends the answer and waits until its last byte has been sent, or the connection is closed. */
function endAnswer({ stream, cut }: AnswerPort, clock: AdapterDependencies['clock']): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) return resolve();
    const cancel = clock.after(flushMaxMs, () => {
      cut();
      resolve();
    });
    // The end of an HTTP/2 stream that is finished may still arrive.
    stream.once('close', () => {
      cancel();
      resolve();
    });
    stream.end();
  });
}
