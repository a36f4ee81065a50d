// One request of the simulator: read, logged, answered, and its end noted.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Randomness } from '../../../shared/foundation/ids/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { chooseBehaviour } from './behaviours/registry.ts';
import type { Call, ChatRequest } from './call.ts';
import type { CallLog, ReceivedCall } from './call-log.ts';
import { play } from './play.ts';
import { type ReadRequest, readRequest, whyInvalid } from './read-request.ts';
import { json, type Steps } from './step.ts';

export interface ServerState {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly paceMs: number;
  readonly credential: string | undefined;
  readonly log: CallLog;
  /** Requests so far on each connection. */
  readonly requestsOn: WeakMap<Socket, number>;
  readonly isStopping: () => boolean;
}

export async function serveRequest(state: ServerState, request: IncomingMessage, response: ServerResponse) {
  const { clock, randomness, paceMs, log, requestsOn } = state;
  const read = await readRequest(request);
  const answer = answerRequest(read, state.credential);
  const call = receivedCall(read, answer.behaviour, clock.nowMs());
  const earlierOnConnection = requestsOn.get(request.socket) ?? 0;
  requestsOn.set(request.socket, earlierOnConnection + 1);
  const earlierCalls = log.add(call);
  const newId = (prefix: string) => `${prefix}${randomness.bytes(12).toString('hex')}`;
  const createdEpochSeconds = Math.floor(call.receivedAtMs / 1000);
  response.setHeader('x-request-id', newId('req_'));
  const steps = answer.steps({ paceMs, earlierCalls, earlierOnConnection, createdEpochSeconds, newId });
  await perform(state, steps, response, call);
}

interface Answer {
  readonly behaviour: string;
  readonly steps: (facts: CallFacts) => Steps;
}

/** What only the server knows. */
type CallFacts = Pick<Call, 'paceMs' | 'earlierCalls' | 'earlierOnConnection' | 'createdEpochSeconds' | 'newId'>;

const refusal = (behaviour: string, status: number, message: string, code: string | null): Answer => ({
  behaviour,
  steps: () => json(status, { error: { message, type: 'invalid_request_error', param: null, code } }),
});

/** Who answers a request: a behaviour, or one of the refusals that every provider has. */
function answerRequest(read: ReadRequest, credential: string | undefined): Answer {
  const { provider, headers, bodyText, method, path } = read;
  if (!read.isChatCompletion) return refusal('not-found', 404, `Invalid URL (${method} ${path})`, null);
  if (credential !== undefined && headers.authorization !== `Bearer ${credential}`) {
    return refusal('wrong-credential', 401, 'Incorrect API key provided.', 'invalid_api_key');
  }
  const invalid = read.isTooLarge ? 'The body is too large.' : whyInvalid(read.body);
  if (invalid !== null) return refusal('invalid-request', 400, invalid, null);
  const request = read.body as ChatRequest;
  const { name, parameters, behaviour } = chooseBehaviour(request.model);
  return {
    behaviour: name,
    steps: (facts) => behaviour({ ...facts, provider, name, parameters, request, bodyText, headers }),
  };
}

/** The log itself: GET lists it, DELETE empties it. */
export function serveLog(state: ServerState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'DELETE') state.log.clear();
  return perform(state, json(200, state.log.calls), response);
}

function receivedCall(read: ReadRequest, behaviour: string, receivedAtMs: number): ReceivedCall {
  const { isChatCompletion: _answered, isTooLarge: _refused, ...received } = read;
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

function perform(state: ServerState, steps: Steps, response: ServerResponse, call?: ReceivedCall): Promise<void> {
  const gone = new AbortController();
  let isBreaking = false;
  const leave = () => {
    gone.abort();
    if (call === undefined) return;
    call.status = response.headersSent ? response.statusCode : null;
    call.closedEarly = !response.writableFinished && !isBreaking && !state.isStopping();
    call.ended = true;
    state.log.changed();
  };
  // A client may be gone before its request was looked at: then there is no event to come.
  if (response.destroyed) leave();
  else response.once('close', leave);
  // A write that meets a closing connection: `close` follows and tells all there is to know.
  response.on('error', () => {});
  const breaking = () => {
    isBreaking = true;
  };
  return play(steps, { response, clock: state.clock, gone: gone.signal, breaking });
}

/** What is too large or too deep to be answered is the request's fault; any other fault must be seen, not taken for a behaviour. */
export function answerFault(response: ServerResponse, fault: unknown): void {
  if (response.headersSent || response.destroyed) return void response.socket?.destroy();
  const [status, type] = fault instanceof RangeError ? [400, 'invalid_request_error'] : [500, 'simulator_fault'];
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: `${fault}`, type, param: null, code: null } }));
}
