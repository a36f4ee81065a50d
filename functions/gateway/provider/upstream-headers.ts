// The headers of a call to a provider. Nothing that a client sends decides where it goes or with which credential.
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { CandidateRequest } from '../../../shared/routing/formats/index.ts';

/** Headers that providers ask for on every call below a path, where neither their entry nor the client says another. */
const expectedHeaders: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[] = [
  ['/messages', { 'anthropic-version': '2023-06-01' }],
];

export interface HeaderParts extends Pick<CandidateRequest, 'path' | 'accept' | 'headers'> {
  /** Of the provider's entry. */
  readonly constant: Readonly<Record<string, string>> | undefined;
  readonly credential: Readonly<Record<string, string>>;
  readonly traceparent: string | undefined;
}

/** A later part outweighs the ones before it: no header that is passed on takes the place of one of the gateway's. */
export const upstreamHeaders = (parts: HeaderParts): Record<string, string> => ({
  ...expectedAt(parts.path),
  ...parts.constant,
  ...parts.headers,
  accept: parts.accept,
  'accept-encoding': 'identity',
  'content-type': 'application/json',
  'user-agent': 'gw',
  ...(parts.traceparent === undefined ? {} : { [headerNames.traceparent]: parts.traceparent }),
  ...parts.credential,
});

function expectedAt(path: string): Readonly<Record<string, string>> | undefined {
  const [plainPath = ''] = path.split('?');
  return expectedHeaders.find(([start]) => plainPath === start || plainPath.startsWith(`${start}/`))?.[1];
}
