// How many requests a call makes of a provider.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { ClientRequest } from '../../protocol/interfaces/index.ts';
import type { CallSize } from '../../protocol/wire/index.ts';
import { chooseFormat } from './capabilities.ts';

/** One, but for lists that a package splits. Without a limit of requests they are not counted. */
export function requestsOf(candidate: Candidate, request: ClientRequest, size: CallSize): number | Promise<number> {
  if (candidate.entry.rate_limit_rpm === null) return 1;
  const format = chooseFormat(candidate, request);
  if (format?.kind !== 'task') return 1;
  // Loaded with the first call of such a provider.
  return import('./hub/index.ts').then(({ requestsOfTask }) =>
    requestsOfTask(request.interfaceId, { api: format.api, candidate, size }),
  );
}
