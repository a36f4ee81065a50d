// The model that a body names, as far as it can be read: told before anything else of a body is checked.
import { functionAliasPrefix } from '../../foundation/constants/index.ts';
import { findMember, type JsonText } from '../wire/index.ts';

export function readModel(json: JsonText): string | undefined {
  const member = findMember(json, 'model');
  const text = member === undefined ? '' : json.slice(member);
  return text.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

/** Also where the alias is malformed: its form is told before the types of what else was sent. */
export const namesFunction = (json: JsonText): boolean => readModel(json)?.startsWith(functionAliasPrefix) === true;
