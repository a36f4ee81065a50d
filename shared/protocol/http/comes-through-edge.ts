// Checks that a request came through the edge: the distribution adds a secret header, and the function knows only the
// SHA-256 of each accepted value. This keeps callers from bypassing the edge; authentication is by API key.
import { headerNames } from '../../foundation/constants/index.ts';
import { equalInConstantTime, sha256Hex } from '../../foundation/ids/index.ts';
import type { HeaderValues } from './exchange.ts';

/** `acceptedHashes`: SHA-256 in hex, two of them during a rotation. None: no header is asked for. */
export function comesThroughEdge(headers: HeaderValues, acceptedHashes: readonly string[]): boolean {
  if (acceptedHashes.length === 0) return true;
  const [secret, ...others] = headers[headerNames.originSecret] ?? [];
  if (secret === undefined || others.length > 0) return false;
  const hash = sha256Hex(secret);
  // Compares every hash, so that the time does not reveal which one fits.
  const matches = acceptedHashes.map((accepted) => equalInConstantTime(accepted.trim().toLowerCase(), hash));
  return matches.includes(true);
}
