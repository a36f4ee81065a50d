// Tests of parsed JSON that never recurse deeper than requested.
import { isRawNumber } from '../../foundation/ids/index.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** True if objects and arrays are nested more than `max` deep. */
export const nestsDeeperThan = (value: unknown, max: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !isRawNumber(value) &&
  (max === 0 || Object.values(value).some((member) => nestsDeeperThan(member, max - 1)));

/**
 * Returns a copy in which numbers that are stored as text are numbers; undefined for a value that JSON does not allow.
 */
export function plainCopy(value: unknown): { readonly copy: unknown } | undefined {
  const text = jsonText(value);
  return text === undefined ? undefined : { copy: JSON.parse(text) };
}

/** Returns undefined for a value that is not JSON. */
export const jsonText = (value: unknown): string | undefined => JSON.stringify(value) as string | undefined;

// The reason why a schema cannot be used, with its position as a JSON pointer. Client text is always shortened.

const segmentMaxCharacters = 40;
const pathMaxCharacters = 200;

const shorten = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`);

/** Appends a step to a path; names are escaped as in RFC 6901. */
export const joinPath = (path: string, member: string | number): string =>
  `${path}/${shorten(String(member), segmentMaxCharacters).replaceAll('~', '~0').replaceAll('/', '~1')}`;

export class UnusableSchema extends Error {
  /** True if `items` are a list, which draft 7 allows and 2020-12 does not. */
  readonly isListOfItems: boolean;
  /** `problem` continues the sentence "The schema at /a/b …". */
  constructor(path: string, problem: string, isListOfItems = false) {
    super(`The schema${path === '' ? '' : ` at ${shorten(path, pathMaxCharacters)}`} ${problem}.`);
    this.isListOfItems = isListOfItems;
  }
}
