// Checks the models of a key's list, which are the only models that the key knows. A plan is made with the remembered
// key. Therefore the reservation of the key checks whether the list still has the planned models, before a provider is
// called or a stored answer is returned.
import { readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { autoModelId } from '../../../shared/foundation/constants/index.ts';
import { unnamedModel } from '../../../shared/protocol/interfaces/index.ts';
import { failUnknownModel, findVisible } from '../../../shared/routing/planner/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { ExistingAnswer, IdentifiedCall, RoutedCall } from '../stages.ts';

/**
 * Returns undefined if the key may use the planned models. `planned` is undefined if no plan could be made. A
 * function's caller does not choose its models, and for a cached answer the plan is enough.
 */
export function refuseModels(
  call: IdentifiedCall,
  planned: RoutedCall | undefined,
  key: Item,
  existingAnswer: ExistingAnswer | undefined,
): GatewayError | undefined {
  const models = readKeySetting(key, 'models');
  if (models === null || call.parsed.isFunctionCall) return undefined;
  const visibility = { catalogue: call.catalogue, workspace: { models } };
  const { request } = planned?.effective ?? call.parsed.clientBody;
  const isUnknown = (id: string) =>
    id !== autoModelId && !models.includes(id) && findVisible(id, visibility, request) === undefined;
  const calledModels =
    existingAnswer?.kind === 'replay'
      ? [request.model, ...request.fallbackModels]
      : planned?.effective.plan.map(({ model }) => model.id);
  const unknown = calledModels?.find((id) => id !== unnamedModel && isUnknown(id));
  if (unknown !== undefined) return failUnknownModel(unknown, visibility, request);
  if (existingAnswer?.kind !== 'replay' || !isUnknown(existingAnswer.result.model ?? autoModelId)) return undefined;
  return fail('unknown_model', { message: 'The stored answer is of a model that the key may not use.' });
}
