// Counts the requests that a call makes of a provider.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { ClientInterface, ClientRequest } from '../../protocol/interfaces/index.ts';
import type { CallSize } from '../../protocol/wire/index.ts';
import { chooseFormat } from './capabilities.ts';

/** The parts of a model call that a provider's limits need. */
export interface LimitedCall {
  readonly request: ClientRequest;
  readonly size: CallSize;
}

/** Returns one request, except for lists that a package splits. Without a limit of requests they are not counted. */
export function requestsOf(
  candidate: Candidate,
  { clientInterface }: { readonly clientInterface: ClientInterface },
  { request, size }: LimitedCall,
): number | Promise<number> {
  if (candidate.entry.rate_limit_rpm === null) return 1;
  const format = chooseFormat(candidate, request);
  if (format?.kind !== 'task') return 1;
  // The module is loaded with the first call of such a provider.
  return import('./hub/index.ts').then(({ requestsOfTask }) =>
    requestsOfTask(clientInterface, { api: format.api, candidate, size }),
  );
}
