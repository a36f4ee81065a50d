// Which candidates a model id stands for in a workspace. What the workspace may not use does not exist for it.
import type { Candidate, Catalogue } from '../../configuration/catalogue/index.ts';
import { autoModelId } from '../../foundation/constants/index.ts';

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
