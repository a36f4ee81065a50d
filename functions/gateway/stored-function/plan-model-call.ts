// One model call of a function: the request of its revision, planned for its model and then for its fallback models.
// The plan is one list, so the provider loop of plain calls processes it unchanged.

import type { FunctionRequest } from '../../../shared/configuration/stored-functions/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { type ChatRequest, readChatRequest } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { type BodyMemory, openBodyMemory } from '../../../shared/protocol/interfaces/index.ts';
import { openBodyAllocation, sizeOfRequest } from '../../../shared/protocol/memory-budget/index.ts';
import { entryOf, makePlan, type Plan, sessionOf } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall, PlannedModelCall } from '../stages.ts';

/** Returns execution_failed where no model of the function can serve, as for every such failure inside a function. */
export function planModelCall(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  { body, fallbackModels }: FunctionRequest,
): PlannedModelCall | GatewayError {
  const request = readChatRequest(body);
  if (request instanceof GatewayError) return failed(request);
  const [first, ...others] = [request.model, ...fallbackModels].map((model) =>
    planModel(deps, call, { ...request, model }),
  );
  const primary = first instanceof GatewayError || first === undefined ? [] : [...first];
  const fallbacks = others.flatMap((plan) => (plan instanceof GatewayError ? [] : [...plan]));
  const [candidate, ...rest] = [...new Set([...primary, ...fallbacks])];
  if (candidate === undefined) return failed(first);
  const only = fallbacks.filter((fallback) => !primary.includes(fallback));
  const plan: Plan = [candidate, ...rest];
  return { request, bodyMemory: openMemory(call, request), size: request.size(), plan, fallbacks: new Set(only) };
}

function openMemory({ scope, workspace }: IdentifiedCall, request: ChatRequest): BodyMemory {
  const taking = { workspace: workspace.id, gone: scope.clientGone };
  const allocation = openBodyAllocation(scope.memory.openRequest(), taking, () => sizeOfRequest(request.text()));
  return openBodyMemory(request, allocation, false);
}

/** Returns the error: no provider can be called, so a retry would end the same way. */
const failed = (cause: unknown): GatewayError => fail('execution_failed', { cause, isFinal: true });

const planModel = (deps: GatewayDependencies, call: IdentifiedCall, request: ChatRequest): Plan | GatewayError =>
  makePlan(request, {
    catalogue: call.catalogue,
    workspace: call.workspace,
    isConfigured: ({ provider }) => deps.credentials.find(provider) !== undefined,
    // Revisions name their models, so no sorting needs statistics.
    statsOf: () => undefined,
    session: sessionOf(call, call.request),
    isCooling: (candidate) => deps.cooldowns.isCooling(entryOf(candidate), call.workspace.id),
  });
