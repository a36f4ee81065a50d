// Runs an admitted function. The function's model calls go through the provider loop of plain calls, on one bill and
// under one deadline. The answer is stored, and the slots are free, before the client gets it.

import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import {
  outputTextOf,
  runWorkflow,
  type StepAnswer,
  toFunctionAnswer,
} from '../../../shared/configuration/stored-functions/index.ts';
import { type ErrorCode, errorCatalogue, fail, GatewayError, whereToLook } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { readChoices, withoutReasoning } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { answerJson } from '../../../shared/protocol/interfaces/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import { type JsonText, sumUsage } from '../../../shared/protocol/wire/index.ts';
import { type Bill, mergeUsage } from '../../../shared/routing/billing/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { decisionOf, passWhole, respondWith } from '../exit/exit.ts';
import type { ProvidedAnswer, ProviderOutcome, ProviderRun } from '../provider-call.ts';
import { failed } from '../settlement/settle.ts';
import type {
  AnswerSource,
  CallResult,
  FunctionModelCall,
  OpenedCall,
  PlannedModelCall,
  ServedCall,
  StepLimits,
} from '../stages.ts';
import { planModelCall } from './plan-model-call.ts';

/**
 * Runs the function. `provide` is the loop of plain calls. The loop is not imported, because this file is loaded on
 * demand and its bundle would contain a copy of the loop.
 */
export async function execute(
  deps: GatewayDependencies,
  call: ServedCall<OpenedCall>,
  provide: Provide,
): Promise<CallResult> {
  const { clock } = deps;
  const { claims, guard, planned } = call.admitted;
  const { scope, arrivedAtMs } = planned.identified.parsed;
  const startedAtMs = clock.nowMs();
  const runs: ProviderRun[] = [];
  // The requests of its steps have memory of their own.
  planned.effective.bodyMemory.allocation.keep('relayedSent');
  const provideAndKeep: Provide = async (...input) => {
    const outcome = await provide(...input);
    runs.push(outcome.run);
    return outcome;
  };
  const executed = await runFunction(deps, call, provideAndKeep, runs).catch((error: unknown) => ({ error }));
  // Some steps run in parallel, so this time is not the sum of their times.
  const upstreamMs = clock.nowMs() - startedAtMs;
  const run = sumRuns(runs, upstreamMs);
  const settledEarly = call.settleEarly?.();
  if ('error' in executed) {
    await settledEarly;
    const error = executionError(executed.error, scope.correlationId);
    return failed(run, error);
  }
  const gatewayMs = Math.max(0, clock.nowMs() - arrivedAtMs - upstreamMs);
  const timing = { [headerNames.serverTiming]: `gw;dur=${gatewayMs}` };
  const { source } = executed;
  const names =
    source === undefined ? {} : { [headerNames.model]: source.model, [headerNames.provider]: source.provider };
  const headers = { ...names, ...timing, ...jsonHeaders };
  const written = { text: executed.answer, json: answerJson(executed.answer), finishReasons: undefined };
  const passed = await passWhole(decisionOf(guard), written);
  if (passed instanceof GatewayError) {
    await settledEarly;
    return failed(run, passed);
  }
  const response = respondWith(passed, { headers, body: passed.text });
  await Promise.all([claims.store({ status: response.status, headers, body: passed.text }, source), settledEarly]);
  return { response, end: () => ({ run, error: undefined, stream: undefined, writeCache: undefined }) };
}

interface Executed {
  readonly answer: string;
  /** Undefined if several providers may have served the steps of a workflow, so that no header names a provider. */
  readonly source: AnswerSource | undefined;
}

/** `runs` are the results of the provider loop until now, including failed steps. */
async function runFunction(
  deps: GatewayDependencies,
  call: ServedCall<OpenedCall>,
  provide: Provide,
  runs: readonly ProviderRun[],
): Promise<Executed> {
  const { planned, owner, bill } = call.admitted;
  const { revision, matched, prompt } = planned.execution;
  const { content, functionId, revisionId } = revision;
  const execution = { functionId, revisionId, executionId: owner };
  const usage = () => executionUsage(bill, attemptsOf(runs));
  if (content.kind === 'prompt') {
    if (prompt === undefined) throw new Error('a prompt was admitted without its plan');
    const { json, candidate, fallbackUsed } = await callModel(deps, call, provide, prompt);
    return {
      answer: toFunctionAnswer({ ...execution, fallbackUsed }, { kind: 'prompt', json }, usage()),
      source: { model: candidate.model.id, provider: candidate.provider.id },
    };
  }
  const { output, answers } = await runWorkflow(content, matched, (_step, request, signal) => {
    const step = planModelCall(deps, planned, request);
    return step instanceof GatewayError ? Promise.reject(step) : callModel(deps, call, provide, step, signal);
  });
  const fallbackUsed = [...answers.values()].some((answer) => answer.fallbackUsed);
  const result = {
    kind: 'workflow',
    output,
    model: planned.effective.request.model,
    nowMs: deps.clock.nowMs(),
  } as const;
  return { answer: toFunctionAnswer({ ...execution, fallbackUsed }, result, usage()), source: undefined };
}

const attemptsOf = (runs: readonly ProviderRun[]): number =>
  runs.reduce((sum, { attemptCount }) => sum + attemptCount, 0);

const sumRuns = (runs: readonly ProviderRun[], upstreamMs: number): ProviderRun => ({
  attempts: runs.flatMap(({ attempts }) => attempts),
  attemptCount: attemptsOf(runs),
  upstreamMs,
  queuedMs: runs.reduce((sum, { queuedMs }) => sum + queuedMs, 0),
  firstOutputAtMs: runs.find(({ firstOutputAtMs }) => firstOutputAtMs !== undefined)?.firstOutputAtMs,
  unusedPermit: undefined,
});

/** Error codes for providers that gave no result. */
const providerFailures: ReadonlySet<ErrorCode> = new Set([
  'no_available_provider',
  'rate_limited',
  'invalid_request',
  'schema_validation_failed',
]);

/**
 * Returns the error for the client. Inside a function call every failure to get a result from providers is
 * execution_failed, or execution_deadline_exceeded. A fault of the gateway or of the request has its usual code.
 */
function executionError(error: unknown, correlationId: string): unknown {
  if (!(error instanceof GatewayError)) return error;
  if (error.code === 'request_deadline_exceeded') return fail('execution_deadline_exceeded', { cause: error });
  if (!providerFailures.has(error.code)) return error;
  // The client gets the message of a schema failure, which shows what to change. Another round would cost as much
  // again. Details about providers are in the record.
  const failsSchema = error.code === 'schema_validation_failed';
  const message = `${failsSchema ? error.message : errorCatalogue.execution_failed.message} ${whereToLook(correlationId)}`;
  return fail('execution_failed', { message, cause: error, isFinal: error.isFinal || failsSchema });
}

function executionUsage(bill: Bill, attempts: number): Record<string, unknown> {
  const { charges } = bill;
  const last = charges.at(-1)?.candidate;
  if (last === undefined) throw new Error('a function answered without any provider call');
  const reported = sumUsage(charges.map(({ reported }) => reported?.members));
  const charged = { total: bill.totalOf('workspace'), upstream: bill.upstreamCost() };
  const source = {
    provider: last.provider.id,
    model: last.model.id,
    attempts,
    isByok: false,
    cacheHit: false,
  };
  return mergeUsage({ ...reported }, bill.usage(), charged, source);
}

// Makes one model call of a function, including its fallback models. The provider loop continues with a fallback model
// if a provider fails. If a model's answer is not a result, this file calls the next models.

/** The provider loop. */
type Provide = (
  deps: GatewayDependencies,
  call: ServedCall,
  modelCall: PlannedModelCall,
  step?: StepLimits,
) => Promise<ProviderOutcome>;

interface ModelAnswer extends StepAnswer {
  readonly json: JsonText;
  readonly candidate: Candidate;
  readonly fallbackUsed: boolean;
}

async function callModel(
  deps: GatewayDependencies,
  call: ServedCall<OpenedCall>,
  provide: Provide,
  { request, bodyMemory, size, plan: wholePlan, fallbacks }: FunctionModelCall,
  stopped?: AbortSignal,
): Promise<ModelAnswer> {
  // Each round removes one model from the plan.
  for (let plan = wholePlan; ; ) {
    const modelCall = { request, bodyMemory, size, plan, fallbacks };
    const { run, result } = await provide(deps, call, modelCall, stepOf(deps, call, stopped));
    const answer = result.kind === 'failed' ? result : await readAnswer(call, modelCall, result);
    if (!('error' in answer)) return answer;
    const behind = isInvalidAnswer(answer.error) ? modelsBehind(plan, run.attempts.at(-1)?.candidate) : undefined;
    if (behind === undefined) throw answer.error;
    plan = behind;
  }
}

/**
 * Returns the limits of a step of a workflow. A step begins after other steps have called providers, and ends if
 * another step has failed. Undefined for a prompt, which has the limits of its call.
 */
function stepOf(
  deps: GatewayDependencies,
  { admitted: { planned } }: ServedCall<OpenedCall>,
  stopped: AbortSignal | undefined,
): StepLimits | undefined {
  if (planned.execution.prompt !== undefined) return undefined;
  const cut = eitherOf(stopped, planned.identified.parsed.scope.cut);
  return { cancelSignal: cut, admissionTime: startAdmissionTime(deps.clock) };
}

const eitherOf = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one && other ? AbortSignal.any([one, other]) : (one ?? other);

async function readAnswer(
  { admitted: { planned } }: ServedCall<OpenedCall>,
  { request, fallbacks }: FunctionModelCall,
  provided: ProvidedAnswer,
): Promise<ModelAnswer | { readonly error: unknown }> {
  if (provided.kind === 'stream') throw new Error('a function never streams');
  const { json } = provided.answer;
  // An answer without text, for example a refusal, is a result of a prompt, but no input for another step.
  const output = outputTextOf(readChoices(json));
  if (output === undefined && planned.execution.prompt === undefined) return { error: fail('execution_failed') };
  const { candidate } = provided.admitted;
  return {
    json: request.reasoning?.exclude === true ? await withoutReasoning(json) : json,
    output: output ?? '',
    candidate,
    fallbackUsed: fallbacks.has(candidate),
  };
}

const isInvalidAnswer = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'schema_validation_failed' || error.code === 'execution_failed');

/** Returns the candidates of other models after this one; undefined if there are none. */
function modelsBehind(plan: Plan, candidate: Candidate | undefined): Plan | undefined {
  if (candidate === undefined) return undefined;
  const [first, ...rest] = plan
    .slice(plan.indexOf(candidate) + 1)
    .filter(({ model }) => model.id !== candidate.model.id);
  return first === undefined ? undefined : [first, ...rest];
}
