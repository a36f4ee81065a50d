// From an alias to its execution, in the order in which errors win: execution off, found, disabled, revision, expired,
// input contract. The worst case of all its model calls is reserved before the first of them.
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
import { withUnknownInput, worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { mostTokens } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Execution, IdentifiedCall, OpenedCall, PlannedModelCall } from '../stages.ts';
import { planModelCall } from './plan-model-call.ts';

export async function openExecution(
  deps: GatewayDependencies,
  call: IdentifiedCall,
): Promise<OpenedCall | GatewayError> {
  if (requiresManagedFunding(call.byokKey, call.workspace, call.connections)) {
    return fail('function_requires_managed_funding');
  }
  try {
    const [revision] = await Promise.all([findRevision(deps, call), deps.credentials.ready()]);
    const matched = await matchInput(revision.content, call.request.raw, call.schemaWork);
    const execution = prepare(deps, call, revision, matched);
    return execution instanceof GatewayError ? execution : { ...call, execution };
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

async function findRevision(
  deps: GatewayDependencies,
  { request, workspace, catalogue }: IdentifiedCall,
): Promise<OpenRevision> {
  const alias = parseFunctionAlias(request.model);
  if (alias === undefined) throw fail('invalid_function_alias', { param: 'model' });
  const executionEnabled = catalogue.service.function_execution === 'enabled';
  // Nothing is looked up while execution is switched off, which is the purpose of the switch.
  const found = executionEnabled ? await deps.functions.read(workspace.id, alias) : undefined;
  const known = executionEnabled && found === undefined ? await deps.functionList.of(workspace.id) : [];
  const knownIds = known.map(({ id }) => id);
  return openRevision({ executionEnabled, found, alias, knownIds, nowMs: deps.clock.nowMs() });
}

function prepare(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  revision: OpenRevision,
  matched: MatchedInput,
): Execution | GatewayError {
  const { content } = revision;
  if (content.kind === 'prompt') {
    const planned = planModelCall(deps, call, promptRequest(content, matched));
    if (planned instanceof GatewayError) return planned;
    const estimatedTokens = mostTokens(planned);
    return { revision, matched, prompt: planned, worstCase: promptWorstCase(planned), estimatedTokens };
  }
  let worstCase: PicoUsd = 0n;
  let estimatedTokens = 0;
  for (const step of content.steps) {
    // Its messages are unknown until the steps before it are done; its candidates and its worst case are known.
    const planned = planModelCall(deps, call, toRequest(step, step.messages, matched.passed));
    if (planned instanceof GatewayError) return planned;
    worstCase += sumOverModels(planned.plan, (candidates) => worstCaseCost(candidates, withUnknownInput(planned.size)));
    estimatedTokens += mostTokens(planned);
  }
  return { revision, matched, prompt: undefined, worstCase, estimatedTokens };
}

/** Without a schema any answer is the result; with one, a model whose answers are paid may leave it to the next. */
const promptWorstCase = ({ request, size, plan }: PlannedModelCall): PicoUsd =>
  request.responseSchema === undefined
    ? worstCaseCost(plan, size)
    : sumOverModels(plan, (candidates) => worstCaseCost(candidates, size));

const sumOverModels = (plan: readonly Candidate[], costOf: (candidates: readonly Candidate[]) => PicoUsd): PicoUsd =>
  [...Map.groupBy(plan, ({ model }) => model.id).values()].reduce((sum, candidates) => sum + costOf(candidates), 0n);
