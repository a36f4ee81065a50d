// The models that a body names.
import { fail } from '../../errors/index.ts';
import { functionAliasPrefix } from '../../foundation/constants/index.ts';
import { findMember, type JsonText, type RoutedRequest } from '../wire/index.ts';

/** `model` as far as it can be read: told before anything else of a body is checked. */
export function readModel(json: JsonText): string | undefined {
  const member = findMember(json, 'model');
  const text = member === undefined ? '' : json.slice(member);
  return text.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

/** Also where the alias is malformed: its form is told before the types of what else was sent. */
export const namesFunction = (json: JsonText): boolean => readModel(json)?.startsWith(functionAliasPrefix) === true;

/** `models`: each may be tried within one budget. */
export const fallbackModelsMax = 8;

/** `model` and `models` of a body that was checked. Throws invalid_request where it names none. */
export function readAskedModels({
  model: asked,
  models,
}: {
  readonly model?: string | undefined;
  readonly models?: readonly string[] | null | undefined;
}): Pick<RoutedRequest, 'model' | 'fallbackModels' | 'memberOfModel'> {
  const [model, ...fallbackModels] = new Set([asked, ...(models ?? [])].filter((id) => id !== undefined));
  if (model === undefined) throw fail('invalid_request', { message: 'model: is missing', param: 'model' });
  const memberOfModel = (id: string) => {
    const index = asked === id ? -1 : (models ?? []).indexOf(id);
    return index < 0 ? 'model' : `models[${index}]`;
  };
  return { model, fallbackModels, memberOfModel };
}
