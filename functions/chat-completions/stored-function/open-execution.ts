// From an alias to what will be executed, in the order of contract 5: execution off, found, disabled, revision, expired,
// input contract. Money is asked for all of it before the first provider is called.
import { requiresManagedFunding } from '../../../shared/configuration/byok/index.ts';
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
import type { ChatDependencies } from '../dependencies.ts';
import type { Execution, IdentifiedCall } from '../stages.ts';
import { planUnit } from './plan-unit.ts';
import { worstCaseOfPrompt, worstCaseOfStep } from './worst-case.ts';

export async function openExecution(deps: ChatDependencies, call: IdentifiedCall): Promise<Execution | GatewayError> {
  if (requiresManagedFunding(call.byokKey, call.connections)) return fail('function_requires_managed_funding');
  try {
    const [revision] = await Promise.all([findRevision(deps, call), deps.credentials.ready()]);
    const matched = await matchInput(revision.content, call.request.raw, call.schemaWork);
    return prepare(deps, call, revision, matched);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

async function findRevision(
  deps: ChatDependencies,
  { request, workspace, catalogue }: IdentifiedCall,
): Promise<OpenRevision> {
  const alias = parseFunctionAlias(request.model);
  if (alias === undefined) throw fail('invalid_function_alias');
  const executionEnabled = catalogue.service.function_execution === 'enabled';
  // Switched off, nothing is looked up: that is what the switch is for.
  const found = executionEnabled ? await deps.functions.read(workspace.id, alias) : undefined;
  return openRevision({ executionEnabled, found, alias, nowMs: deps.clock.nowMs() });
}

function prepare(
  deps: ChatDependencies,
  call: IdentifiedCall,
  revision: OpenRevision,
  matched: MatchedInput,
): Execution | GatewayError {
  const { content } = revision;
  if (content.kind === 'prompt') {
    const unit = planUnit(deps, call, promptRequest(content, matched));
    if (unit instanceof GatewayError) return unit;
    return { revision, matched, prompt: unit, worstCase: worstCaseOfPrompt(unit) };
  }
  let worstCase: PicoUsd = 0n;
  for (const step of content.steps) {
    // What it will say is not known before the steps ahead of it are done; who may serve it and what it may cost is.
    const unit = planUnit(deps, call, toRequest(step, step.messages, matched.passed));
    if (unit instanceof GatewayError) return unit;
    worstCase += worstCaseOfStep(unit);
  }
  return { revision, matched, prompt: undefined, worstCase };
}
