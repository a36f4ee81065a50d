// unknown_model quotes the id that was asked for, and the nearest one that the workspace has.
import { fail, type GatewayError, quote, suggest } from '../../errors/index.ts';
import type { ChatRequest } from '../../protocol/wire/index.ts';
import type { VisibilityFacts } from './visible-candidates.ts';

/** Without a request no member of a body is at fault. */
export function failUnknownModel(
  id: string,
  { catalogue, workspace }: VisibilityFacts,
  request?: ChatRequest,
): GatewayError {
  const known = [...catalogue.models.keys()].filter(
    (model) => workspace.models === 'all' || workspace.models.includes(model),
  );
  const hint = suggest(id, known, 'GET /v1/models lists the models there are.');
  const param = request && memberOf(id, request);
  return fail('unknown_model', { message: `There is no model ${quote(id)}. ${hint}`, param });
}

/** Of a model id, among the members that name one. */
function memberOf(id: string, { raw }: ChatRequest): string {
  const index = raw.model === id || !Array.isArray(raw.models) ? -1 : raw.models.indexOf(id);
  return index < 0 ? 'model' : `models[${index}]`;
}
