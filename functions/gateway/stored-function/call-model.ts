// One model call of a function, fallback models included. The provider loop goes on to them where a provider fails;
// where a model answers and its answer is no result, the models behind it are called here.

import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { outputTextOf, type StepAnswer } from '../../../shared/configuration/stored-functions/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { readChoices, withoutReasoning } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import type { JsonText } from '../../../shared/protocol/wire/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProvidedAnswer, ProviderRun } from '../provider-call.ts';
import type { AdmittedExecution, PlannedModelCall, ProviderCall } from '../stages.ts';

/** The provider loop. */
export type Provide = (deps: GatewayDependencies, call: ProviderCall) => Promise<ProviderRun>;

interface ModelAnswer extends StepAnswer {
  readonly json: JsonText;
  readonly candidate: Candidate;
  readonly fallbackUsed: boolean;
}

export async function callModel(
  deps: GatewayDependencies,
  call: AdmittedExecution,
  provide: Provide,
  planned: PlannedModelCall,
  stopped?: AbortSignal,
): Promise<ModelAnswer> {
  // Each round leaves one model behind.
  for (let { plan } = planned; ; ) {
    const run = await provide(deps, { ...stepOf(deps, call, stopped), ...planned, plan });
    const { result } = run;
    const answer = result.kind === 'failed' ? result : await readAnswer(call, planned, result);
    if (!('error' in answer)) return answer;
    const behind = isInvalidAnswer(answer.error) ? modelsBehind(plan, run.attempts.at(-1)?.candidate) : undefined;
    if (behind === undefined) throw answer.error;
    plan = behind;
  }
}

/** Steps of a workflow begin when others have called providers, and end where another step has failed. */
function stepOf(
  deps: GatewayDependencies,
  call: AdmittedExecution,
  stopped: AbortSignal | undefined,
): AdmittedExecution {
  if (call.execution.prompt !== undefined) return call;
  const scope = { ...call.scope, cut: eitherOf(stopped, call.scope.cut) };
  return { ...call, scope, admissionTime: startAdmissionTime(deps.clock) };
}

const eitherOf = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one && other ? AbortSignal.any([one, other]) : (one ?? other);

async function readAnswer(
  { execution }: AdmittedExecution,
  { request, fallbacks }: PlannedModelCall,
  provided: ProvidedAnswer,
): Promise<ModelAnswer | { readonly error: unknown }> {
  if (provided.kind === 'stream') throw new Error('a function never streams');
  const { json } = provided.answer;
  // An answer without text, a refusal say, is a result of a prompt, but feeds no step.
  const output = outputTextOf(readChoices(json));
  if (output === undefined && execution.prompt === undefined) return { error: fail('execution_failed') };
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

/** Candidates of other models after this one; undefined when there are none. */
function modelsBehind(plan: Plan, candidate: Candidate | undefined): Plan | undefined {
  if (candidate === undefined) return undefined;
  const [first, ...rest] = plan
    .slice(plan.indexOf(candidate) + 1)
    .filter(({ model }) => model.id !== candidate.model.id);
  return first === undefined ? undefined : [first, ...rest];
}
