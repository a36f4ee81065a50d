// Finds the execution of an alias. Errors take precedence in this order: execution off, not found, disabled, revision,
// expired, input contract. The worst case of all its model calls is reserved before the first of them.
import { requiresManagedFunding } from '../../../shared/configuration/byok/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import {
  type MatchedInput,
  matchInput,
  type OpenRevision,
  openRevision,
  parseFunctionAlias,
  promptRequest,
  toRequest,
} from '../../../shared/configuration/stored-functions/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import { noEnvelopes } from '../../../shared/protocol/wire/index.ts';
import { withUnknownInput, worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { mostTokens } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { crossesFormats, openEnvelopes } from '../routing/open-envelopes.ts';
import type { CallChanges, Execution, FunctionModelCall, OpenedCall } from '../stages.ts';
import { type FunctionCall, planModelCall } from './plan-model-call.ts';

export async function openExecution(deps: GatewayDependencies, call: FunctionCall): Promise<OpenedCall | GatewayError> {
  const { identified, effective } = call;
  const { parsed, workspace, connections } = identified;
  if (requiresManagedFunding(parsed.byokKey, workspace, connections)) {
    return fail('function_requires_managed_funding');
  }
  try {
    const [revision] = await Promise.all([findRevision(deps, call), deps.credentials.ready()]);
    const matched = await matchInput(revision.content, effective.request.raw, identified.schemaWork);
    const planned = planAll(deps, call, revision, matched);
    if (planned instanceof GatewayError) return planned;
    const envelopes = planned.some(crossesFormats) ? await openEnvelopes(deps, workspace) : noEnvelopes;
    const execution = toExecution(revision, matched, planned);
    // Functions are paid with workspace credit.
    return { identified, effective, terms: { byok: undefined, envelopes, policy: workspace.data_policy }, execution };
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** Replaces the body of an opened call, and opens the call again, because its revision checks the masked input. */
export const openedChanges = (deps: GatewayDependencies): CallChanges<OpenedCall> => ({
  withBody: ({ identified }, effective) => openExecution(deps, { identified, effective }),
  // A function uses no connections with budgets, so all candidates remain.
  withPlan: (call) => call,
});

async function findRevision(
  deps: GatewayDependencies,
  { identified: { workspace, catalogue }, effective }: FunctionCall,
): Promise<OpenRevision> {
  const alias = parseFunctionAlias(effective.request.model);
  if (alias === undefined) throw fail('invalid_function_alias', { param: 'model' });
  const executionEnabled = catalogue.service.function_execution === 'enabled';
  // Nothing is looked up while execution is switched off, which is the purpose of the switch.
  const found = executionEnabled ? await deps.functions.read(workspace.id, alias) : undefined;
  const known = executionEnabled && found === undefined ? await deps.functionList.functionsOf(workspace.id) : [];
  const knownIds = known.map(({ id }) => id);
  return openRevision({ executionEnabled, found, alias, knownIds, nowMs: deps.clock.nowMs() });
}

/** Plans the one model call of a prompt, or each step of a workflow. */
function planAll(
  deps: GatewayDependencies,
  call: FunctionCall,
  { content }: OpenRevision,
  matched: MatchedInput,
): readonly FunctionModelCall[] | GatewayError {
  const requests =
    content.kind === 'prompt'
      ? [promptRequest(content, matched)]
      : content.steps.map((step) => toRequest(step, step.messages, matched.passed));
  const planned: FunctionModelCall[] = [];
  for (const request of requests) {
    const one = planModelCall(deps, call, request);
    if (one instanceof GatewayError) return one;
    planned.push(one);
  }
  return planned;
}

function toExecution(revision: OpenRevision, matched: MatchedInput, planned: readonly FunctionModelCall[]): Execution {
  const estimatedTokens = planned.reduce((sum, one) => sum + mostTokens(one), 0);
  if (revision.content.kind === 'workflow') {
    const worstCase = planned.reduce((sum, one) => sum + stepWorstCase(one), 0n);
    return { revision, matched, prompt: undefined, worstCase, estimatedTokens };
  }
  const [prompt] = planned;
  if (prompt === undefined) throw new Error('a prompt was opened without its plan');
  return { revision, matched, prompt, worstCase: promptWorstCase(prompt), estimatedTokens };
}

/**
 * Returns the highest cost of a step. The candidates and the size bounds of a step are known before it begins, its
 * messages are not.
 */
const stepWorstCase = ({ plan, size }: FunctionModelCall): PicoUsd =>
  sumOverModels(plan, (candidates) => worstCaseCost(candidates, withUnknownInput(size)));

/**
 * Returns the highest cost of a prompt. Without a schema any answer is the result. With a schema, an answer that fails
 * the schema is paid, and the next model is called.
 */
const promptWorstCase = ({ request, size, plan }: FunctionModelCall): PicoUsd =>
  request.responseSchema === undefined
    ? worstCaseCost(plan, size)
    : sumOverModels(plan, (candidates) => worstCaseCost(candidates, size));

const sumOverModels = (plan: readonly Candidate[], costOf: (candidates: readonly Candidate[]) => PicoUsd): PicoUsd =>
  [...Map.groupBy(plan, ({ model }) => model.id).values()].reduce((sum, candidates) => sum + costOf(candidates), 0n);
