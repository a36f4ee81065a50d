// A key that has a list of models knows no other. A plan is made with the key as it was remembered: whether the list still has
// what the call would get is told by the key as it is reserved, before anything is called.
import { readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { autoModelId } from '../../../shared/foundation/constants/index.ts';
import { failUnknownModel, findVisible } from '../../../shared/routing/planner/index.ts';
import type { IdentifiedCall, ReadyAnswer, RoutedCall } from '../stages.ts';

/** Undefined: the key may call all of these models. */
export function refuseModels(
  { key, catalogue, request }: Pick<IdentifiedCall, 'key' | 'catalogue' | 'request'>,
  called: readonly string[],
): GatewayError | undefined {
  const models = readKeySetting(key.item, 'models');
  if (models === null) return undefined;
  const visibility = { catalogue, workspace: { models } };
  const isKnown = (id: string) =>
    id === autoModelId || models.includes(id) || findVisible(id, visibility) !== undefined;
  const other = called.find((id) => !isKnown(id));
  return other === undefined ? undefined : failUnknownModel(other, visibility, request);
}

export const refusePlan = (call: RoutedCall): GatewayError | undefined =>
  refuseModels(
    call,
    call.plan.map(({ model }) => model.id),
  );

/** A stored answer is not for a key that may not call the model that gave it, or one that the request names. */
export function refuseReady(call: IdentifiedCall, ready: ReadyAnswer): GatewayError | undefined {
  // A function's caller does not choose what it calls, and of a cached answer the plan says it all.
  if (call.asksFunction || ready.kind === 'cached') return undefined;
  const { model, fallbackModels } = call.request;
  const asked = refuseModels(call, [model, ...fallbackModels]);
  if (asked !== undefined) return asked;
  return refuseModels(call, [ready.result.model ?? autoModelId]) && fail('unknown_model', { message: otherModel });
}

const otherModel = 'The stored answer is of a model that the key may not use.';
