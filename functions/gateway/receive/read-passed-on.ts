// What of the headers and the query of a request goes on to the provider as it came.
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { maskKeys } from '../../../shared/foundation/log/index.ts';
import type { HeaderValues } from '../../../shared/protocol/http/index.ts';
import type { ClientInterface, PassedOn } from '../../../shared/protocol/interfaces/index.ts';

const headerShape = /^[\x20-\x7e]{1,1024}$/;
/** No fragment, nothing that would need quoting in a URL. */
const queryShape = /^[A-Za-z0-9._~%&=+,:;@/?!$'()*-]{1,1024}$/;

export function readPassedOn(
  { passedHeaders, passesQuery }: Pick<ClientInterface, 'passedHeaders' | 'passesQuery'>,
  headers: HeaderValues,
  query: string,
): PassedOn | GatewayError {
  const passed: Record<string, string> = {};
  for (const name of passedHeaders) {
    const values = headers[name];
    if (values === undefined || values.length === 0) continue;
    // Two lines of one header mean the same as one with a comma.
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

/** Some clients put their key everywhere: no provider is to see it, percent-encoded in a query either. */
const holdsKey = (value: string): boolean => maskKeys(value) !== value || maskKeys(decoded(value)) !== decoded(value);

/** Decoded once, as a server does. What is malformed stays as it is. */
const decoded = (value: string): string =>
  value.replaceAll(/%([2-7][\da-f])/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
