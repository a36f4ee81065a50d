// unknown_model quotes the id that was asked for, and the nearest one that the workspace has.
import { fail, type GatewayError, quote, suggest } from '../../errors/index.ts';
import type { RoutedRequest } from '../../protocol/wire/index.ts';
import type { VisibilityInput } from './visible-candidates.ts';

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
