// Serves one request of the simulator. Reads, logs and answers the request, and records its end.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Randomness } from '../../../shared/foundation/ids/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { echo } from './behaviours/answers.ts';
import { chooseBehaviour } from './behaviours/registry.ts';
import { isAccepted, refusalOf, type SimulatorCall } from './call.ts';
import type { CallLog, LoggedRequest } from './call-log.ts';
import { errorBody } from './error-bodies.ts';
import { refuse } from './frames.ts';
import { guardrailSteps } from './guardrail.ts';
import { play } from './play.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { repeatedIds, type ScriptedFaults } from './scripted-faults.ts';
import { json, type Steps } from './step.ts';
import type { StoredResponses } from './stored-responses.ts';

export interface ServerState {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly paceMs: number;
  readonly credential: string | undefined;
  readonly log: CallLog;
  /** Number of earlier requests on each connection. */
  readonly requestsOn: WeakMap<Socket, number>;
  readonly isStopping: () => boolean;
  readonly storedResponses: StoredResponses;
  readonly scriptedFaults: ScriptedFaults;
}

export async function serveRequest(state: ServerState, request: IncomingMessage, response: ServerResponse) {
  const { clock, randomness, paceMs, log, requestsOn, storedResponses } = state;
  const read = await readRequest(request);
  const answer = answerRequest(read, state);
  const call = receivedCall(read, answer, clock.nowMs());
  const earlierOnConnection = requestsOn.get(request.socket) ?? 0;
  requestsOn.set(request.socket, earlierOnConnection + 1);
  const earlierCalls = log.add(call);
  const newId = (prefix: string) => `${prefix}${randomness.bytes(12).toString('hex')}`;
  const createdEpochSeconds = Math.floor(call.receivedAtMs / 1000);
  response.setHeader(read.chosen?.format.requestIdHeader ?? 'x-request-id', newId('req_'));
  const keep: CallContext['keep'] = (stored) => storedResponses.keep(read, stored);
  const steps = answer.steps({ keep, paceMs, earlierCalls, earlierOnConnection, createdEpochSeconds, newId });
  await perform(state, steps, response, call);
}

interface Answer {
  readonly behaviour: string;
  /** The model that the format has read; undefined if it has read none. */
  readonly model?: string;
  readonly steps: (context: CallContext) => Steps;
}

/** Values that only the server knows. */
type CallContext = Pick<
  SimulatorCall,
  'keep' | 'paceMs' | 'earlierCalls' | 'earlierOnConnection' | 'createdEpochSeconds' | 'newId'
>;

/** Answers a request with a behaviour, or with a refusal that every provider has. */
function answerRequest(
  read: ReadRequest,
  {
    credential,
    storedResponses,
    scriptedFaults,
  }: Pick<ServerState, 'credential' | 'storedResponses' | 'scriptedFaults'>,
): Answer {
  const { provider, headers, body, bodyText, method, path, query, pathBelowBase, chosen } = read;
  const guardrailAnswer = guardrailSteps(read);
  if (guardrailAnswer !== undefined) return { behaviour: 'guardrail', steps: () => guardrailAnswer };
  if (chosen === undefined) {
    const storedAnswer = storedResponses.answer(read);
    if (storedAnswer !== undefined) return { behaviour: 'stored-response', steps: () => storedAnswer };
    const message = `Invalid URL (${method} ${path})`;
    return { behaviour: 'not-found', steps: () => json(404, errorBody(404, undefined, message)) };
  }
  const { format, fromPath } = chosen;
  if (credential !== undefined && !isAccepted(credential, format, headers)) {
    const { status, code } = format.wrongCredential;
    return { behaviour: 'wrong-credential', steps: () => refuse(chosen, status, { code }) };
  }
  const request = read.isTooLarge ? 'The body is too large.' : format.read({ headers, body, query, fromPath });
  const invalid = (message: string): Answer => {
    const model = modelOf(read) ?? '';
    if (chooseBehaviour(model).isFault) scriptedFaults.miss(model, format);
    return { behaviour: 'invalid-request', steps: () => refuse(chosen, 400, { message }) };
  };
  if (typeof request === 'string') return invalid(request);
  const refusal = refusalOf(format, body, request.model);
  if (refusal !== undefined) return invalid(refusal);
  const { name, parameters, behaviour, isFault } = chooseBehaviour(request.model);
  const known = { provider, name, parameters, format, request, path: pathBelowBase, body, bodyText, headers };
  const { model } = request;
  if (!isFault) return { behaviour: name, model, steps: (context) => behaviour({ ...context, ...known }) };
  const steps = (context: CallContext) => {
    const [newId, sameId] = repeatedIds(context.newId);
    const call = { ...context, ...known, newId };
    return scriptedFaults.watch(call, behaviour(call), echo({ ...call, newId: sameId, keep: () => {} }));
  };
  return { behaviour: name, model, steps };
}

/** Serves the log itself: GET lists it, DELETE empties it. */
export function serveLog(state: ServerState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'DELETE') state.log.clear();
  return perform(state, json(200, state.log.calls), response);
}

/** Returns the model as it was received. */
function modelOf({ chosen, body }: ReadRequest): string | undefined {
  const model = chosen?.fromPath.model ?? (body as { model?: unknown } | null | undefined)?.model;
  return typeof model === 'string' ? model : undefined;
}

function receivedCall(read: ReadRequest, { behaviour, model }: Answer, receivedAtMs: number): LoggedRequest {
  const { chosen, pathBelowBase: _partOfPath, isTooLarge: _isTooLarge, ...call } = read;
  return {
    ...call,
    format: chosen?.format.name ?? null,
    model: modelOf(read) ?? model ?? null,
    behaviour,
    receivedAtMs,
    answerText: '',
    status: null,
    ended: false,
    closedEarly: false,
  };
}

function perform(state: ServerState, steps: Steps, response: ServerResponse, call?: LoggedRequest): Promise<void> {
  const departure = new AbortController();
  let isBreaking = false;
  const leave = () => {
    departure.abort();
    if (call === undefined) return;
    call.status = response.headersSent ? response.statusCode : null;
    call.closedEarly = !response.writableFinished && !isBreaking && !state.isStopping();
    call.ended = true;
    state.log.changed();
  };
  // A client may disconnect before its request was read. No event comes in that case.
  if (response.destroyed) leave();
  else response.once('close', leave);
  // A write to a closing connection fails; `close` follows and is sufficient.
  response.on('error', () => {});
  const breaking = () => {
    isBreaking = true;
  };
  return play(call === undefined ? steps : noted(steps, call), {
    response,
    clock: state.clock,
    gone: departure.signal,
    breaking,
  });
}

/** Maximum length of the beginning that the log has of an answer. */
const answerTextMax = 4_000;

/** Notes the beginning of what is sent. */
function* noted(steps: Steps, call: LoggedRequest): Steps {
  for (const step of steps) {
    if (step.kind === 'write' && call.answerText.length < answerTextMax) {
      call.answerText += Buffer.from(step.bytes).toString('utf8', 0, answerTextMax - call.answerText.length);
    }
    yield step;
  }
}

/**
 * Answers a request that is too large or too deep with an error; any other fault must be reported, and not be mistaken
 * for a behaviour.
 */
export function answerFault(response: ServerResponse, fault: unknown): void {
  if (response.headersSent || response.destroyed) return void response.socket?.destroy();
  const [status, type] = fault instanceof RangeError ? [400, 'invalid_request_error'] : [500, 'simulator_fault'];
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: `${fault}`, type, param: null, code: null } }));
}
