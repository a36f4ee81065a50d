// unknown_model quotes the id that was asked for, and the nearest one that the workspace has.
import type { Catalogue } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError, quote, suggest } from '../../errors/index.ts';

export function failUnknownModel(
  id: string,
  { models }: Catalogue,
  workspace: { readonly models: 'all' | readonly string[] },
): GatewayError {
  const known = [...models.keys()].filter((model) => workspace.models === 'all' || workspace.models.includes(model));
  const hint = suggest(id, known, 'GET /v1/models lists the models there are.');
  return fail('unknown_model', { message: `There is no model ${quote(id)}. ${hint}` });
}
