// Finds the candidates for a model id in a workspace. Models that the workspace may not use do not exist for it.
import {
  type Candidate,
  type Catalogue,
  type CatalogueModel,
  findAtBedrock,
  type NamedAtBedrock,
  readBedrockName,
  resolveIds,
} from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError, nearestOf, quote } from '../../errors/index.ts';
import { autoModelId } from '../../foundation/constants/index.ts';
import type { RoutedRequest } from '../../protocol/wire/index.ts';
import { mayTranslateCandidate } from '../formats/index.ts';

export interface VisibilityInput {
  readonly catalogue: Catalogue;
  readonly workspace: { readonly models: 'all' | readonly string[] };
}

/**
 * Returns candidates in catalogue order, or undefined for an unknown model. `auto` always exists, and covers every
 * model marked for it; if the whole catalogue marks none, every model.
 */
export function visibleCandidates(
  modelId: string,
  { catalogue, workspace }: VisibilityInput,
  naming: Naming = {},
): readonly Candidate[] | undefined {
  if (modelId !== autoModelId) return findVisible(modelId, { catalogue, workspace }, naming)?.candidates;
  const isVisible = visibilityIn(workspace);
  const models = [...catalogue.models.values()];
  const hasMarks = models.some(({ model }) => model.auto);
  return models
    .filter(({ model }) => (model.auto || !hasMarks) && isVisible(model.id))
    .flatMap(({ candidates }) => candidates);
}

/** The ways in which a request names models, besides the ids of the catalogue. */
type Naming = Pick<RoutedRequest, 'namesModelsOf'>;

/** Finds a model. Returns undefined for an unknown model, or a name of several. */
export function findVisible(
  name: string,
  input: VisibilityInput,
  { namesModelsOf }: Naming = {},
): CatalogueModel | undefined {
  const [id, ...others] = idsMeant(name, input);
  if (others.length > 0) return undefined;
  const known = id !== undefined && visibilityIn(input.workspace)(id) ? input.catalogue.models.get(id) : undefined;
  if (known !== undefined || namesModelsOf === undefined) return known;
  // Lists for clients of Bedrock have an ARN of each id.
  const profile = readBedrockName(name);
  const listed = profile.name === name ? undefined : findVisible(profile.name, input);
  if (listed !== undefined && profile.region === undefined) return listed;
  const match = findNamed(name, input);
  return match.kind === 'found' ? match.model : undefined;
}

function findNamed(name: string, { catalogue, workspace }: VisibilityInput): NamedAtBedrock {
  const isVisible = visibilityIn(workspace);
  return findAtBedrock(
    name,
    [...catalogue.models.values()].filter(({ model }) => isVisible(model.id)),
  );
}

const visibilityIn =
  ({ models }: VisibilityInput['workspace']) =>
  (id: string): boolean =>
    models === 'all' || models.includes(id);

function idsMeant(name: string, { catalogue, workspace }: VisibilityInput): readonly string[] {
  const { models } = catalogue;
  const isId = (id: string) => id === autoModelId || models.has(id);
  const known = () => (workspace.models === 'all' ? models.keys() : workspace.models.filter((id) => models.has(id)));
  return resolveIds(name, isId, known);
}

/** True if some candidate of its models is called in a way that depends on its whole body. */
export const mayBeTranslated = (
  { model, fallbackModels, interfaceId, namesModelsOf }: RoutedRequest,
  input: VisibilityInput,
): boolean =>
  [model, ...fallbackModels].some((id) =>
    visibleCandidates(id, input, { namesModelsOf })?.some((candidate) => mayTranslateCandidate(candidate, interfaceId)),
  );

const bareName = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

/** Maximum number of ids that a bare name may mean. */
const namedMax = 16;

// The error unknown_model, which quotes the requested id, and the nearest one that the workspace has.

/** Returns the error; without a request it names no field of a body. */
export function failUnknownModel(
  id: string,
  { catalogue, workspace }: VisibilityInput,
  request?: Pick<RoutedRequest, 'memberOfModel' | 'namesModelsOf'>,
): GatewayError {
  const known = [...catalogue.models.keys()].filter(
    (model) => workspace.models === 'all' || workspace.models.includes(model),
  );
  const param = request?.memberOfModel(id);
  const match = request?.namesModelsOf && findNamed(id, { catalogue, workspace });
  if (match?.kind === 'elsewhere') {
    const regions = match.regions.slice(0, namedMax).map(quote).join(', ') || 'none';
    const message = `There is no ${quote(id)} here: its prefix is served by models of that prefix alone. There are: ${regions}.`;
    return fail('unknown_model', { message, param });
  }
  const meantIds = match?.kind === 'several' ? match.ids : idsMeant(id, { catalogue, workspace });
  if (meantIds.length > 1) {
    const ids = meantIds.slice(0, namedMax).map(quote).join(', ');
    return fail('unknown_model', { message: `${quote(id)} may be one of several models: ${ids}.`, param });
  }
  // A bare name is compared with bare names, and the id is reported.
  const near = nearestOf(id, id.includes('/') ? known : [...known, ...known.map(bareName)]);
  const nearest = known.find((model) => model === near) ?? known.find((model) => bareName(model) === near);
  const hint = nearest === undefined ? 'GET /v1/models lists the models there are.' : `Did you mean "${nearest}"?`;
  const isUnlisted = catalogue.models.has(id);
  return fail('unknown_model', { message: `There is no model ${quote(id)}. ${hint}`, param, isUnlisted });
}
