// Serves requests that read, stream, cancel or delete a response that a provider stores, or list its input. The
// requests cost nothing, reserve nothing and leave no record.

import { workspaceConnections } from '../../../shared/configuration/byok/index.ts';
import {
  type CalledProvider,
  type Catalogue,
  isAccount,
  poolOf,
} from '../../../shared/configuration/catalogue/index.ts';
import { modelsOfKey, readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { fail, GatewayError, quote } from '../../../shared/errors/index.ts';
import { headerNames, requestBudgetMs, upstreamBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { inOneTurn, startDeadline, type TimeBudget } from '../../../shared/foundation/time/index.ts';
import type { BodyPart, GatewayResponse, HeaderValues } from '../../../shared/protocol/http/index.ts';
import { answerJson, rescanAnswer, vendorHeaders } from '../../../shared/protocol/interfaces/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { type Endpoint, jsonHeaders, type RequestScope, streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { MidStreamCode } from '../../../shared/protocol/wire/index.ts';
import type { CandidateRequest } from '../../../shared/routing/formats/index.ts';
import { type ByokSource, checkByokHeader } from '../../../shared/routing/planner/index.ts';
import {
  type AttemptFailure,
  type CandidateAnswer,
  midStreamCodeOf,
  type NoAnswer,
} from '../../../shared/routing/providers/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';
import { guardrailIdsOf } from '../admission/guardrails-of-call.ts';
import { type CountedKey, identifyKey } from '../admission/identify-key.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { decisionOf, type GuardDecision, passStored, passWhole, respondWith } from '../exit/exit.ts';
import { finalReason } from '../provider/conclude.ts';
import type { createSend, Sending } from '../provider/create-send.ts';
import type { readBrokenCall } from '../provider/open-stream.ts';
import type { CallToSend } from '../provider/prepare-call.ts';
import { readCallHeaders, readPassedOn } from '../receive/read-call-headers.ts';
import { withKeepAlive } from '../response/keep-alive.ts';
import { guardedEvents, type PassedEvents } from './guarded-events.ts';
import { relayEvents } from './relay-events.ts';

export interface StoredWork {
  readonly method?: CandidateRequest['method'];
  /** Part of the path after the id. */
  readonly below?: string;
}

/**
 * Functions that are not imported, because a bundle that is loaded on demand would contain copies of them, and the
 * transport's errors are recognized by their classes.
 */
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
    // The call is repeated if the socket had died, because each of these requests may safely arrive twice.
    const answer = 'failure' in first && first.failure.wasDead === true ? await ask(deps, call, calling) : first;
    if ('failure' in answer) throw refusalOf(deps, { ...call, workspace: key.record.workspace }, answer.failure);
    return { ...answer, headers: { ...answer.headers, [headerNames.provider]: found.provider.id } };
  };

/** Decides with the guardrails of the key that reads, not of the key that created the response. */
async function decide(
  deps: GatewayDependencies,
  { catalogue, guardrails }: FoundResponse,
  { isStream, scope, arrivedAtMs }: Pick<StoredCall, 'isStream' | 'scope' | 'arrivedAtMs'>,
): Promise<GuardDecision> {
  if (guardrails.length === 0) return decisionOf(undefined);
  const { openCallGuard } = await import('../admission/check-input.ts');
  const deadline = startDeadline(deps.clock, arrivedAtMs, requestBudgetMs);
  const streamDeadline = startDeadline(deps.clock, arrivedAtMs, deps.times.streamBudgetMs);
  const reading = { parsed: { scope, clientInterface: responses, deadline, streamDeadline }, catalogue };
  return decisionOf(await openCallGuard(deps, reading, { ids: guardrails, isStream }));
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
    {
      parsed: { scope, deadline, byokKey: payment.byokKey },
      identified: payment,
      terms: payment,
      modelCall: { request: candidateRequest },
      admissionTime,
      cancelSignal: scope.cut,
    },
    { provider },
    {
      traceparent: scope.correlation.traceparent,
      answerMaxBytes: () => upstreamBodyMaxBytes,
      silenceLimitMs: Number.POSITIVE_INFINITY,
      answerPath: { isTranslated: false, isGuarded: call.decision.kind === 'guarded' },
      streamCopies: [],
      onSent: () => {},
    },
  );
  const { connection } = sending;
  try {
    return await read(deps, call, sending, readBrokenCall);
  } catch (error) {
    connection.watch.abort();
    // An answer that a guardrail refuses is not a failure of the provider.
    if (!connection.isSent || error instanceof GatewayError) throw error;
    return { kind: 'failure', failure: readBrokenCall(error, connection, 0) };
  }
}

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
      // The iterator does not use the generator's `return`, which may wait for bytes.
      body: { [Symbol.asyncIterator]: () => ({ next, return: async () => ended }) },
      errorEndText: (why) => broken(why === 'failed' ? 'no_available_provider' : 'request_deadline_exceeded'),
      finish: async () => watch.abort(),
    });
  }
  const text = await answer.readText();
  // Some servers confirm a deletion with an empty body.
  const body =
    text === '' && request.method === 'DELETE' ? JSON.stringify({ id, object: 'response', deleted: true }) : text;
  if (body?.trimStart().startsWith('{') !== true)
    return { kind: 'failure', failure: { kind: 'failed', cause: 'unreadable' } };
  const json = body.length > inOneTurn.jsonCharacters ? await rescanAnswer(body) : answerJson(body);
  const passed = await passWhole(decision, { text: body, json, finishReasons: undefined });
  if (passed instanceof GatewayError) throw passed;
  memory.release({ written: passed.text.length });
  return respondWith(passed, { headers: jsonHeaders, body: passed.text });
}

function unguardedEvents(
  { body, onEvent }: CandidateAnswer,
  decision: Exclude<GuardDecision, { kind: 'guarded' }>,
  codeOf: (error: unknown) => MidStreamCode,
): PassedEvents {
  const events = relayEvents(body, { onEvent, codeOf });
  return { ...events, passed: passStored(decision, events) };
}

const ended: IteratorResult<BodyPart, void> = { done: true, value: undefined };

// Builds the error for a provider that did not answer, writes its log line, and reports a fault of the gateway's
// credential.

interface RefusedCall extends FoundResponse {
  readonly id: string;
  readonly workspace: string;
  readonly scope: RequestScope;
}

const notFoundStatus = 404;
/** Statuses that are about the state of the response. */
const rejectedStatuses: ReadonlySet<number | undefined> = new Set([405, 409, 410]);

function refusalOf(
  { log, credentials }: GatewayDependencies,
  { id, workspace, provider, payment, zdr, scope }: RefusedCall,
  failure: AttemptFailure,
): GatewayError {
  const { correlationId } = scope;
  const byok = payment.byok?.sourceOf({ provider });
  log.info({
    event: 'attempt_failed',
    correlation_id: correlationId,
    workspace_id: workspace,
    provider: provider.id,
    credential: byok === undefined ? provider.credential : undefined,
    outcome: failure.cause,
    status: failure.status,
    reason: failure.connectionFault,
    message: zdr ? undefined : failure.providerText?.forOperator,
  });
  if (failure.refusedCredential === true && byok === undefined) scope.deferred.add(() => credentials.refresh());
  if (failure.refusal !== undefined) return failure.refusal;
  if (failure.isUnavailable === true) return fail('RATE_LIMITER_UNAVAILABLE', { cause: new Error(failure.cause) });
  if (failure.kind === 'deadline') return fail('request_deadline_exceeded');
  if (failure.status === notFoundStatus) {
    return fail('not_found', {
      message: `${provider.id} does not know the response ${quote(id)}, or what was asked of it.`,
    });
  }
  if (failure.kind === 'rate_limited') return fail('rate_limited', { retryAfterSeconds: failure.retryAfterSeconds });
  if (failure.kind === 'invalid' || rejectedStatuses.has(failure.status)) {
    const providerText = failure.providerText?.forClient;
    const words = providerText === undefined ? undefined : { text: providerText, isWholeMessage: false };
    return fail('invalid_request', { message: `${provider.id} rejected the request.`, providerWords: words });
  }
  const { isFinal = false, message: why = `${provider.id} did not answer.` } = finalReason([
    { ...failure, byok, provider: provider.id },
  ]);
  const cause = new Error(failure.cause);
  // No record names the call, because reading a response leaves no record.
  return fail('no_available_provider', { isFinal, message: why, cause });
}

// Finds the account that stores a response, and the key to call it with. A response of another workspace is as unknown
// as a response that was never created.

interface FoundResponse {
  readonly provider: CalledProvider;
  readonly payment: CallToSend['terms'] & CallToSend['identified'] & Pick<CallToSend['parsed'], 'byokKey'>;
  readonly catalogue: Catalogue;
  /** Guardrails of the key that reads. */
  readonly guardrails: readonly string[];
  /** True if the workspace has zdr. No text of the provider may then be logged. */
  readonly zdr: boolean;
}

async function findStoredResponse(
  deps: GatewayDependencies,
  { record, item }: CountedKey,
  { id, headers }: { readonly id: string; readonly headers: HeaderValues },
): Promise<FoundResponse> {
  const callHeaders = readCallHeaders(headers, false);
  if (callHeaders instanceof GatewayError) throw callHeaders;
  const { byokKey } = callHeaders;
  const [catalogue, workspace, stored, [state]] = await Promise.all([
    deps.catalogue.current(),
    deps.workspaces.read(record.workspace),
    deps.connections.connectionsOf(record.workspace),
    deps.providerAffinity.find(record.workspace, [id]),
    deps.credentials.ready(),
  ]);
  if (state?.isMade !== true) throw failUnknown(id);
  const models = modelsOfKey(workspace.models, { models: readKeySetting(item, 'models') });
  const { provider: account, model = '', withOwnKey = false } = state;
  const [providerId = ''] = account.split('#');
  // The error does not even name a model that the key may not use.
  if (models !== 'all' && !models.includes(model)) throw failUnknown(id);
  const { connections } = workspaceConnections(workspace, stored);
  if (byokKey !== undefined) {
    const input = { catalogue, workspace, isEnabled: workspace.features.byok, connections };
    const fault = checkByokHeader({ provider: { only: [providerId] }, model: '' }, input);
    if (fault !== undefined) throw fault;
  }
  const hasConnection = connections.some((known) => known.provider === providerId && known.isAuthorised);
  const connectionSource = withOwnKey && hasConnection ? 'connection' : undefined;
  const source: ByokSource | undefined = byokKey === undefined ? connectionSource : 'header';
  if (source === undefined && withOwnKey)
    throw failWithoutKey('was made with a key of your own: send it in x-byok-key');
  if (source === undefined && connections.some(({ policy }) => policy === 'always')) {
    throw failWithoutKey("was made with the gateway's key, which the workspace does not use any more");
  }
  const provider = accountIn(catalogue, { providerId, account }, source);
  if (source === undefined && deps.credentials.find(provider) === undefined) {
    throw failGone(`The gateway holds no credential for ${provider.id}`);
  }
  return {
    provider,
    catalogue,
    guardrails: guardrailIdsOf({ workspace, key: item }),
    payment: { byok: { sourceOf: () => source, isRequired: false }, byokKey, connections: stored },
    zdr: workspace.data_policy.zdr === true,
  };
}

/** Returns the provider with the account's credential. The client's own key replaces any credential. */
function accountIn(
  { providers }: Catalogue,
  { providerId, account }: { readonly providerId: string; readonly account: string },
  source: ByokSource | undefined,
): CalledProvider {
  const provider = providers.get(providerId);
  if (provider === undefined) throw failGone(`The gateway has no longer the provider ${quote(providerId)}`);
  if (provider.status !== 'enabled') {
    const message = `The operator of this gateway has disabled ${provider.id}, which keeps the response.`;
    throw fail('model_not_routable', { message });
  }
  const credential = poolOf(provider).find((one) => source !== undefined || isAccount(one, account));
  if (credential === undefined) throw failGone(`The gateway has no longer the credential of ${provider.id}`);
  return credential;
}

const failUnknown = (id: string): GatewayError =>
  fail('not_found', {
    message: `There is no response ${quote(id)} that this workspace has made through this gateway in the last 30 days.`,
  });

const failGone = (what: string): GatewayError =>
  fail('provider_not_configured', { message: `${what} that keeps the response.` });

const failWithoutKey = (why: string): GatewayError =>
  fail('byok_no_eligible_connection', { message: `The response ${why}.` });
