// Which requests come through the edge, by the secret that the environment names.
import type { Environment } from '../foundation/environment/index.ts';
import type { Randomness } from '../foundation/ids/index.ts';
import type { Log } from '../foundation/log/index.ts';
import type { Clock } from '../foundation/time/index.ts';
import { anyOrigin, createOriginCheck, type OriginCheck } from '../protocol/http/index.ts';
import { awsAccess, callWithAttempts, secretText } from '../storage/aws-clients/index.ts';

interface OriginCheckDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly randomness: Randomness;
}

/** Calls nothing yet. */
export function originCheck(
  { originSecret }: Pick<Environment, 'originSecret'>,
  { clock, log, randomness }: OriginCheckDependencies,
): OriginCheck {
  if (originSecret === undefined) return anyOrigin;
  const access = awsAccess({ clock });
  const attempts = { clock, randomness, limitMs: access.callTimeoutMs, kind: 'repeatable' } as const;
  const read = secretText(access, originSecret);
  return createOriginCheck({ clock, log, readSecrets: () => callWithAttempts(attempts, () => read()) });
}
