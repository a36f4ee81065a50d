// One request at the door of the simulator: read, logged, answered, and its end noted.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Randomness } from '../../../shared/foundation/ids/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { answerRequest } from './answer-request.ts';
import type { CallLog, ReceivedCall } from './call-log.ts';
import { play } from './play.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { json, type Steps } from './step.ts';

export interface Premises {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly paceMs: number;
  readonly credential: string | undefined;
  readonly log: CallLog;
  /** Requests so far on each connection. */
  readonly requestsOn: WeakMap<Socket, number>;
  readonly isStopping: () => boolean;
}

export async function serveRequest(premises: Premises, request: IncomingMessage, response: ServerResponse) {
  const { clock, randomness, paceMs, log, requestsOn } = premises;
  const read = await readRequest(request);
  const answer = answerRequest(read, premises.credential);
  const call = receivedCall(read, answer.behaviour, clock.nowMs());
  const earlierOnConnection = requestsOn.get(request.socket) ?? 0;
  requestsOn.set(request.socket, earlierOnConnection + 1);
  const earlierCalls = log.add(call);
  const newId = (prefix: string) => `${prefix}${randomness.bytes(12).toString('hex')}`;
  const createdEpochSeconds = Math.floor(call.receivedAtMs / 1000);
  response.setHeader('x-request-id', newId('req_'));
  const steps = answer.steps({ paceMs, earlierCalls, earlierOnConnection, createdEpochSeconds, newId });
  await perform(premises, steps, response, call);
}

/** The log itself: GET lists it, DELETE empties it. */
export function serveLog(premises: Premises, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'DELETE') premises.log.clear();
  return perform(premises, json(200, premises.log.calls), response);
}

function receivedCall(read: ReadRequest, behaviour: string, receivedAtMs: number): ReceivedCall {
  const { isChatCompletion: _answered, ...received } = read;
  const model = (read.body as { model?: unknown } | null | undefined)?.model;
  return {
    ...received,
    model: typeof model === 'string' ? model : null,
    behaviour,
    receivedAtMs,
    status: null,
    ended: false,
    closedEarly: false,
  };
}

function perform(premises: Premises, steps: Steps, response: ServerResponse, call?: ReceivedCall): Promise<void> {
  const gone = new AbortController();
  let isBreaking = false;
  const leave = () => {
    gone.abort();
    if (call === undefined) return;
    call.status = response.headersSent ? response.statusCode : null;
    call.closedEarly = !response.writableFinished && !isBreaking && !premises.isStopping();
    call.ended = true;
    premises.log.changed();
  };
  // A client may be gone before its request was looked at: then there is no event to come.
  if (response.destroyed) leave();
  else response.once('close', leave);
  // A write that meets a closing connection: `close` follows and tells all there is to know.
  response.on('error', () => {});
  const breaking = () => {
    isBreaking = true;
  };
  return play(steps, { response, clock: premises.clock, gone: gone.signal, breaking });
}

/** A mistake of the simulator itself must be seen, not taken for a behaviour. */
export function confess(response: ServerResponse, fault: unknown): void {
  if (response.headersSent || response.destroyed) return void response.socket?.destroy();
  response.writeHead(500, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: `${fault}`, type: 'simulator_fault', param: null, code: null } }));
}
