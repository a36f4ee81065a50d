// Options of a call that the interfaces of clients write in the same way.
import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRawNumber } from '../../foundation/ids/index.ts';
import { isJsonObject } from '../wire/index.ts';
import type { HubCall } from './hub-call.ts';

/** Returns the option as a number. Numbers that JavaScript rounds are far beyond the range of any option. */
export const numberOption = <Name extends string>(name: Name, value: unknown): { [name in Name]?: number } =>
  typeof value === 'number' || isRawNumber(value)
    ? ({ [name]: typeof value === 'number' ? value : Number(value.rawJSON) } as { [name in Name]?: number })
    : {};

/**
 * Maximum number of fields of a schema. An object with more is not a schema, and copying it would block the event loop.
 */
const schemaMembersMax = 256;

/** Returns a schema with its type, because targets require a schema even if a function has no parameters. */
export function toInputSchema(parameters: unknown): JSONSchema7 {
  if (!isJsonObject(parameters)) return { type: 'object', properties: {} };
  const isSent = parameters.type !== undefined || Object.keys(parameters).length > schemaMembersMax;
  return isSent ? parameters : { type: 'object', properties: {}, ...parameters };
}

/** JSON Schema equal to `true`. */
const anyObject: JSONSchema7 = { type: 'object', additionalProperties: true };

/** Returns the response format, which is `json_object`, or a schema with its name. */
export function toResponseFormat(type: unknown, described: unknown): Pick<HubCall, 'responseFormat'> {
  if (type === 'json_object') return { responseFormat: { type: 'json' } };
  if (type !== 'json_schema' || !isJsonObject(described)) return {};
  const { schema, name, description } = described;
  return {
    responseFormat: {
      type: 'json',
      schema: isJsonObject(schema) ? schema : anyObject,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof description === 'string' ? { description } : {}),
    },
  };
}
