// Reads the headers that belong to the call itself. A malformed header is refused, and its value is never repeated.
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { maskKeys } from '../../../shared/foundation/log/index.ts';
import type { HeaderValues } from '../../../shared/protocol/http/index.ts';
import type { ClientInterface, PassedOn } from '../../../shared/protocol/interfaces/index.ts';
import { readTags, type Tags, tagsForm, tagsMax } from '../../../shared/protocol/wire/index.ts';

interface CallHeaders {
  readonly idempotencyKey: string | undefined;
  readonly byokKey: string | undefined;
}

/** Visible ASCII, bounded. */
export const callHeaderShapes = { idempotencyKey: /^[\x21-\x7e]{1,255}$/, byokKey: /^[\x21-\x7e]{1,1024}$/ } as const;

export function readCallHeaders(headers: HeaderValues, isFunctionCall: boolean): CallHeaders | GatewayError {
  const read = { idempotencyKey: undefined, byokKey: undefined } as Record<keyof CallHeaders, string | undefined>;
  for (const header of ['idempotencyKey', 'byokKey'] as const) {
    const [value, ...more] = headers[headerNames[header]] ?? [];
    if (value === undefined) continue;
    // A function call requires a UUID as this key, and reports a malformed key later with a code of its own.
    const isForAlias = isFunctionCall && header === 'idempotencyKey';
    if (!isForAlias && (more.length > 0 || !callHeaderShapes[header].test(value))) {
      return fail('invalid_request', { message: `The header ${headerNames[header]} is malformed.` });
    }
    // Lambda joins the values of a repeated header with a comma; the result is not a UUID.
    read[header] = [value, ...more].join(',');
  }
  return read;
}

/** Reads the tags, which are recorded and sent nowhere else. */
export function readTagsHeader(headers: HeaderValues): Tags | GatewayError {
  const [value, ...more] = headers[headerNames.tags] ?? [];
  if (value === undefined || (value.trim() === '' && more.length === 0)) return {};
  if (more.length > 0) return fail('invalid_request', { message: `The header ${headerNames.tags} was sent twice.` });
  const tags = readTags(value);
  if (tags === undefined || Object.keys(tags).length > tagsMax) {
    return fail('invalid_request', {
      message: `The header ${headerNames.tags} must be at most ${tagsMax} ${tagsForm}.`,
    });
  }
  // Some clients put their API key everywhere.
  return Object.fromEntries(Object.entries(tags).map(([name, one]) => [name, maskKeys(one)]));
}

/** Bound of attribution, which is free text and therefore cut; it is recorded and sent nowhere else. */
const attributionMaxCharacters = 512;

export function readAttribution(headers: HeaderValues): {
  readonly referer: string | undefined;
  readonly title: string | undefined;
} {
  const read = (name: string) => headers[name]?.[0]?.slice(0, attributionMaxCharacters);
  return { referer: read(headerNames.referer), title: read(headerNames.title) };
}

// Selects the headers and query parameters of a request that are passed on to the provider unchanged.
const headerShape = /^[\x20-\x7e]{1,1024}$/;
/** Matches a query without a fragment and without anything that would need quoting in a URL. */
const queryShape = /^[A-Za-z0-9._~%&=+,:;@/?!$'()*[\]-]{1,1024}$/;

export function readPassedOn(
  { passedHeaders, passesQuery }: Pick<ClientInterface, 'passedHeaders' | 'passesQuery'>,
  headers: HeaderValues,
  query: string,
): PassedOn | GatewayError {
  const passed: Record<string, string> = {};
  for (const name of passedHeaders) {
    const values = headers[name];
    if (values === undefined || values.length === 0) continue;
    // A header on two lines means the same as one line with a comma.
    const value = values.join(',');
    if (!headerShape.test(value) || holdsKey(value))
      return fail('invalid_request', { message: `The header ${name} is malformed, or holds a key.` });
    passed[name] = value;
  }
  const isPassed = passesQuery && query !== '';
  if (isPassed && (!queryShape.test(query) || holdsKey(query)))
    return fail('invalid_request', { message: 'The query is malformed, or holds a key.' });
  return { headers: passed, query: isPassed ? query : '' };
}

/**
 * Returns true if the value contains an API key, percent-encoded or not. Some clients put their key everywhere, and no
 * provider may see it.
 */
const holdsKey = (value: string): boolean => maskKeys(value) !== value || maskKeys(decoded(value)) !== decoded(value);

/** Decodes the value once, as a server does. A malformed text stays unchanged. */
const decoded = (value: string): string =>
  value.replaceAll(/%([2-7][\da-f])/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
