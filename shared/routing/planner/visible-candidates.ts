// Which candidates a model id stands for in a workspace. What the workspace may not use does not exist for it.
import { type Candidate, type Catalogue, speaksOwn } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError, quote, suggest } from '../../errors/index.ts';
import { autoModelId } from '../../foundation/constants/index.ts';
import type { RoutedRequest } from '../../protocol/wire/index.ts';
import { mayGoThroughHub } from '../formats/index.ts';

export interface VisibilityInput {
  readonly catalogue: Catalogue;
  readonly workspace: { readonly models: 'all' | readonly string[] };
}

/**
 * In catalogue order. Undefined: no such model. `auto` is always there, and stands for every model marked so; where the
 * whole catalogue marks none, for every model.
 */
export function visibleCandidates(
  modelId: string,
  { catalogue, workspace }: VisibilityInput,
): readonly Candidate[] | undefined {
  const isVisible = (id: string) => workspace.models === 'all' || workspace.models.includes(id);
  if (modelId !== autoModelId) return isVisible(modelId) ? catalogue.models.get(modelId)?.candidates : undefined;
  const models = [...catalogue.models.values()];
  const hasMarks = models.some(({ model }) => model.auto);
  return models
    .filter(({ model }) => (model.auto || !hasMarks) && isVisible(model.id))
    .flatMap(({ candidates }) => candidates);
}

/** Some candidate of its models is called in the way that its whole body asks for. */
export const mayBeTranslated = (
  { model, fallbackModels, interfaceId }: RoutedRequest,
  input: VisibilityInput,
): boolean =>
  [model, ...fallbackModels].some((id) =>
    visibleCandidates(id, input)?.some((candidate) => mayGoThroughHub(candidate, interfaceId)),
  );

// Providers that may keep what calls of a model refer to later: the ones that speak the interface of the client themselves.

/** Of one alone nothing need be remembered. */
export function hasSeveralKeepers(
  { model, fallbackModels, interfaceId }: RoutedRequest,
  input: VisibilityInput,
): boolean {
  const candidates = [model, ...fallbackModels].flatMap((id) => visibleCandidates(id, input) ?? []);
  const keepers = candidates.filter((candidate) => speaksOwn(candidate, interfaceId));
  return new Set(keepers.map(({ provider }) => provider.id)).size > 1;
}

// unknown_model quotes the id that was asked for, and the nearest one that the workspace has.

/** Without a request no member of a body is at fault. */
export function failUnknownModel(
  id: string,
  { catalogue, workspace }: VisibilityInput,
  request?: Pick<RoutedRequest, 'memberOfModel'>,
): GatewayError {
  const known = [...catalogue.models.keys()].filter(
    (model) => workspace.models === 'all' || workspace.models.includes(model),
  );
  const hint = suggest(id, known, 'GET /v1/models lists the models there are.');
  const param = request?.memberOfModel(id);
  return fail('unknown_model', { message: `There is no model ${quote(id)}. ${hint}`, param });
}
