// Whether a JSON Schema makes it certain that a path is missing. Only what is certain counts: an optional member, a
// reference or a choice between schemas may hold it, and then the call decides (contract 8).
import { isMapping } from './yaml-source.ts';

/** Keywords that can bring members which `properties` does not show. */
const openKeywords = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'] as const;
const scalarTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null']);

export function isCertainlyMissing(schema: unknown, path: readonly string[]): boolean {
  const [name, ...below] = path;
  if (name === undefined || !isMapping(schema)) return false;
  if (scalarTypes.has(schema.type)) return true;
  if (openKeywords.some((keyword) => keyword in schema)) return false;
  const properties = isMapping(schema.properties) ? schema.properties : {};
  if (Object.hasOwn(properties, name)) return isCertainlyMissing(properties[name], below);
  return schema.type === 'object' && schema.additionalProperties === false;
}
