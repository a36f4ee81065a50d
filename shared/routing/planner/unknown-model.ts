// unknown_model quotes the id that was asked for, and the nearest one that the workspace has (contract 4).
import { distance } from 'fastest-levenshtein';
import type { Catalogue } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';

/** A client's text comes back shortened: it may be megabytes long. */
const quotedCharactersMax = 64;
/** Of an id's length: what is farther away is another name, not a typing error. */
const distanceMaxShare = 0.4;

export function failUnknownModel(
  id: string,
  { models }: Catalogue,
  workspace: { readonly models: 'all' | readonly string[] },
): GatewayError {
  const quoted = id.slice(0, quotedCharactersMax);
  const known = [...models.keys()].filter((model) => workspace.models === 'all' || workspace.models.includes(model));
  const [nearest] = known
    .map((model) => ({ model, edits: distance(quoted, model) }))
    .filter(({ edits }) => edits <= Math.max(2, quoted.length * distanceMaxShare))
    .toSorted((a, b) => a.edits - b.edits);
  const hint =
    nearest === undefined ? 'GET /v1/models lists the models there are.' : `Did you mean "${nearest.model}"?`;
  return fail('unknown_model', { message: `There is no model "${quoted}". ${hint}` });
}
