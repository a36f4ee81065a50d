// Plans one model call of a function. The request of the revision is planned for its model and then for its fallback
// models. The plan is one list, so the provider loop of plain calls processes it unchanged.

import type { FunctionRequest } from '../../../shared/configuration/stored-functions/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { type ChatRequest, readChatRequest } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { type BodyMemory, openBodyMemory } from '../../../shared/protocol/interfaces/index.ts';
import { openBodyAllocation, sizeOfRequest } from '../../../shared/protocol/memory-budget/index.ts';
import { entryOf, makePlan, type Plan, sessionOf } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { FunctionModelCall, IdentifiedCall, OpenedCall } from '../stages.ts';

/** The parts of an opened call that are known before its model calls are planned. */
export type FunctionCall = Pick<OpenedCall, 'identified' | 'effective'>;

/** Returns execution_failed if no model of the function can serve, as for any other function call without a result. */
export function planModelCall(
  deps: GatewayDependencies,
  call: FunctionCall,
  { body, fallbackModels }: FunctionRequest,
): FunctionModelCall | GatewayError {
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
  const bodyMemory = openMemory(call.identified, request);
  return { request, bodyMemory, size: request.size(), plan, fallbacks: new Set(only) };
}

function openMemory({ parsed: { scope }, workspace }: IdentifiedCall, request: ChatRequest): BodyMemory {
  const taking = { workspace: workspace.id, gone: scope.clientGone };
  const allocation = openBodyAllocation(scope.memory.openRequest(), taking, () => sizeOfRequest(request.text()));
  return openBodyMemory(request, allocation, false);
}

/** Returns the error. No provider can be called, so a retry would end the same way. */
const failed = (cause: unknown): GatewayError => fail('execution_failed', { cause, isFinal: true });

function planModel(
  deps: GatewayDependencies,
  { identified, effective }: FunctionCall,
  request: ChatRequest,
): Plan | GatewayError {
  const { parsed, catalogue, workspace } = identified;
  return makePlan(request, {
    catalogue,
    workspace,
    isConfigured: ({ provider }) => deps.credentials.find(provider) !== undefined,
    // Revisions name their models, so no sorting needs statistics.
    statsOf: () => undefined,
    session: sessionOf(parsed, effective.request),
    isCooling: (candidate) => deps.cooldowns.isCooling(entryOf(candidate), workspace.id),
  });
}
