// Requests for a response that a provider keeps: read, streamed again, cancelled, deleted, its input. They cost nothing, reserve
// nothing and leave no record.
import { GatewayError } from '../../../shared/errors/index.ts';
import { headerNames, requestBudgetMs, upstreamBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { startDeadline, type TimeBudget } from '../../../shared/foundation/time/index.ts';
import type { BodyPart, GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { answerJson, rescanned, vendorHeaders } from '../../../shared/protocol/interfaces/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { answerWeights } from '../../../shared/protocol/memory-budget/index.ts';
import { type Endpoint, jsonHeaders, type RequestScope, streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { MidStreamCode } from '../../../shared/protocol/wire/index.ts';
import type { CandidateRequest } from '../../../shared/routing/formats/index.ts';
import { type CandidateAnswer, midStreamCodeOf, type NoAnswer } from '../../../shared/routing/providers/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';
import { identifyKey } from '../admission/identify-key.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { decisionOf, type GuardDecision, passStored, passWhole, respondWith } from '../exit/exit.ts';
import type { createSend, Sending } from '../provider/create-send.ts';
import type { readBrokenCall } from '../provider/open-stream.ts';
import { readPassedOn } from '../receive/read-call-headers.ts';
import { withKeepAlive } from '../response/keep-alive.ts';
import { type FoundResponse, findStoredResponse } from './find-stored-response.ts';
import { guardedEvents, type PassedEvents } from './guarded-events.ts';
import { refusalOf } from './refusal-of.ts';
import { relayEvents } from './relay-events.ts';

export interface StoredWork {
  readonly method?: CandidateRequest['method'];
  /** Of the path, behind the id. */
  readonly below?: string;
}

/** Given, because what is loaded on demand has a copy of all code that it names, and the transport's errors are known by their classes. */
interface Calling {
  readonly createSend: typeof createSend;
  readonly readBrokenCall: typeof readBrokenCall;
}

const passing = { passedHeaders: vendorHeaders, passesQuery: true };

interface StoredCall extends FoundResponse {
  readonly id: string;
  readonly request: CandidateRequest;
  readonly isStream: boolean;
  readonly decision: GuardDecision;
  readonly scope: RequestScope;
  readonly arrivedAtMs: number;
  readonly admissionTime: TimeBudget;
}

export const serveStoredResponse =
  (deps: GatewayDependencies, { method, below = '' }: StoredWork, calling: Calling): Endpoint =>
  async (request, scope) => {
    const { headers, query, arrivedAtMs } = request;
    const [id = ''] = scope.pathParameters;
    const admissionTime = startAdmissionTime(deps.clock);
    const key = await admissionTime.wait(identifyKey(deps, request, scope));
    const passedOn = readPassedOn(passing, headers, query);
    if (passedOn instanceof GatewayError) throw passedOn;
    const found = await admissionTime.wait(findStoredResponse(deps, key, { id, headers }));
    const isStream = new URLSearchParams(query).get('stream') === 'true';
    const path = `/responses/${encodeURIComponent(id)}${below}`;
    const candidateRequest: CandidateRequest = {
      path: passedOn.query === '' ? path : `${path}?${passedOn.query}`,
      method,
      accept: isStream ? 'text/event-stream' : 'application/json',
      headers: passedOn.headers,
      body: () => '',
    };
    const decision = await decide(deps, found, { isStream, scope, arrivedAtMs });
    const call = { ...found, id, request: candidateRequest, isStream, decision, scope, arrivedAtMs, admissionTime };
    const first = await ask(deps, call, calling);
    // Asked again where the socket had died: none of these does more when it comes twice.
    const answer = 'failure' in first && first.failure.wasDead === true ? await ask(deps, call, calling) : first;
    if ('failure' in answer) throw refusalOf(deps, { ...call, workspace: key.record.workspace }, answer.failure);
    return { ...answer, headers: { ...answer.headers, [headerNames.provider]: found.provider.id } };
  };

/** Decided by the guardrails of the key that reads, not of the key that made the response. */
async function decide(
  deps: GatewayDependencies,
  { catalogue, guardrails }: FoundResponse,
  { isStream, scope, arrivedAtMs }: Pick<StoredCall, 'isStream' | 'scope' | 'arrivedAtMs'>,
): Promise<GuardDecision> {
  if (guardrails.length === 0) return decisionOf(undefined);
  const { openCallGuard } = await import('../admission/check-input.ts');
  const deadline = startDeadline(deps.clock, arrivedAtMs, requestBudgetMs);
  const streamDeadline = startDeadline(deps.clock, arrivedAtMs, deps.times.streamBudgetMs);
  const reading = { scope, clientInterface: responses, catalogue, deadline, streamDeadline, isStream };
  return decisionOf(await openCallGuard(deps, reading, guardrails));
}

async function ask(
  deps: GatewayDependencies,
  call: StoredCall,
  { createSend, readBrokenCall }: Calling,
): Promise<GatewayResponse | NoAnswer> {
  const { provider, payment, id, scope, isStream, admissionTime, arrivedAtMs } = call;
  const deadline = startDeadline(deps.clock, arrivedAtMs, requestBudgetMs);
  const candidateRequest = { stream: isStream, text: () => ({ text: id }) };
  const sending = createSend(
    deps,
    { ...payment, scope, admissionTime, deadline, request: candidateRequest },
    { provider },
    {
      traceparent: scope.correlation.traceparent,
      answerMaxBytes: () => upstreamBodyMaxBytes,
      silenceLimitMs: Number.POSITIVE_INFINITY,
      isTranslated: false,
      streamCopies: [],
      onSent: () => {},
    },
  );
  const { connection } = sending;
  try {
    return await read(deps, call, sending, readBrokenCall);
  } catch (error) {
    connection.watch.abort();
    // What a guardrail refuses is no failure of the provider.
    if (!connection.isSent || error instanceof GatewayError) throw error;
    return { kind: 'failure', failure: readBrokenCall(error, connection, 0) };
  }
}

/** Scanned in a few milliseconds. */
const longCharacters = 256 * 1024;
async function read(
  { clock, times }: GatewayDependencies,
  { request, id, isStream, decision, arrivedAtMs }: StoredCall,
  { send, connection }: Sending,
  readBrokenCall: Calling['readBrokenCall'],
): Promise<GatewayResponse | NoAnswer> {
  const { watch, silence, memory } = connection;
  const answer = await send(request);
  if (answer.kind === 'failure') return answer;
  if (isStream && answer.contentType.startsWith('text/event-stream')) {
    watch.extend(startDeadline(clock, arrivedAtMs, times.streamBudgetMs));
    silence.outputCame();
    silence.answerCame();
    const failureOf = (error: unknown) => readBrokenCall(error, connection, 0);
    const { passed, parts, broken } =
      decision.kind === 'guarded'
        ? await guardedEvents(answer, decision, { failureOf, abort: watch.abort })
        : unguardedEvents(answer, decision, (error) => midStreamCodeOf[failureOf(error).kind]);
    const next = withKeepAlive(clock, parts);
    return respondWith(passed, {
      headers: streamHeaders,
      // Without `return` of the generator, which may wait for bytes.
      body: { [Symbol.asyncIterator]: () => ({ next, return: async () => ended }) },
      closeBroken: (why) => broken(why === 'failed' ? 'no_available_provider' : 'request_deadline_exceeded'),
      finish: async () => watch.abort(),
    });
  }
  const text = await answer.readText();
  // Some servers say with an empty body that it is deleted.
  const body =
    text === '' && request.method === 'DELETE' ? JSON.stringify({ id, object: 'response', deleted: true }) : text;
  if (body?.trimStart().startsWith('{') !== true)
    return { kind: 'failure', failure: { kind: 'failed', cause: 'unreadable' } };
  const json = body.length > longCharacters ? await rescanned(body) : answerJson(body);
  const passed = await passWhole(decision, { text: body, json, finishReasons: undefined });
  if (passed instanceof GatewayError) throw passed;
  memory.release(answerWeights.written * passed.text.length);
  return respondWith(passed, { headers: jsonHeaders, body: passed.text });
}

function unguardedEvents(
  { body, eventCame }: CandidateAnswer,
  decision: Exclude<GuardDecision, { kind: 'guarded' }>,
  codeOf: (error: unknown) => MidStreamCode,
): PassedEvents {
  const events = relayEvents(body, { eventCame, codeOf });
  return { ...events, passed: passStored(decision, events) };
}

const ended: IteratorResult<BodyPart, void> = { done: true, value: undefined };
