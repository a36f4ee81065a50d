// How many calls may be in flight at once: of a key, of a workspace, of the whole service. Null: any number. The slots of a key
// stand in the item that counts its requests, those of a workspace in the item of its credit; what has no such item has a
// pool of its own.
import { concurrencyOf as concurrencyOfKey, readSlotsInUse } from '../../../shared/accounting/holds/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { countsOnly, type StageResource } from '../../../shared/foundation/constants/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';

export interface ConcurrencyLimits {
  readonly service: number | null;
  readonly workspace: number | null;
  /** Of a key that has none of its own. */
  readonly keyDefault: number | null;
}

/** What the service leaves of a stage, so that who is over a limit is told by the gateway and not by Lambda. */
const stageShare = 0.9;
/** One key never fills the service. */
const keyShare = 0.5;

const unlimited: ConcurrencyLimits = { service: null, workspace: null, keyDefault: null };

export function concurrencyLimitsOf(
  { stageConcurrency }: Pick<GatewayDependencies, 'stageConcurrency'>,
  { catalogue, workspace, clientInterface }: IdentifiedCall,
): ConcurrencyLimits {
  if (countsOnly(clientInterface.id)) return unlimited;
  const { concurrency, key_concurrency } = catalogue.service;
  const service = concurrency ?? (stageConcurrency === undefined ? null : shareOf(stageConcurrency, stageShare));
  const ofStage = stageConcurrency === undefined || service === null ? null : shareOf(service, keyShare);
  return { service, workspace: workspace.concurrency ?? null, keyDefault: key_concurrency ?? ofStage };
}

const shareOf = (whole: number, share: number): number => Math.max(1, Math.floor(whole * share));

/** So many of its calls may be in flight that this one may be refused for it: then it takes nothing of others first. */
export function isNearConcurrency(
  { callsUnderWay, clock }: GatewayDependencies,
  { keyDefault }: ConcurrencyLimits,
  { key, credential }: IdentifiedCall,
): boolean {
  const limit = concurrencyOfKey({ defaultConcurrency: keyDefault }, key.item);
  if (limit === null) return false;
  const seen = Math.max(readSlotsInUse(key.item, clock.nowMs()), callsUnderWay.of(credential.publicId));
  return seen > limit * keyShare;
}

/** So a crowd of one key's calls is seen before the store has told of its slots, and a busy process sees that it is. */
export function enterUnderWay({ callsUnderWay }: GatewayDependencies, { credential, scope }: IdentifiedCall): void {
  const leave = callsUnderWay.enter(credential.publicId);
  scope.deferred.add(async () => leave());
}

/** Calls run for seconds: a longer wait would find no free slot. */
export const retryAfterSeconds = 1;

export const keyConcurrencyError = (concurrency: number): GatewayError =>
  fail('api_key_rate_limit', { retryAfterSeconds, message: messageOf('The key', concurrency) });

/** Of a workspace or of the service. */
export const concurrencyError = (
  whose: string,
  concurrency: number,
  { asksFunction, exhausted }: { readonly asksFunction: boolean; readonly exhausted?: StageResource | undefined },
): GatewayError =>
  fail(asksFunction ? 'execution_capacity' : 'rate_limited', {
    retryAfterSeconds,
    ...(exhausted === undefined ? {} : { exhausted }),
    message: messageOf(whose, concurrency),
  });

const messageOf = (whose: string, concurrency: number): string =>
  `${whose} may have ${concurrency} ${concurrency === 1 ? 'call' : 'calls'} in flight at once, its concurrency, and has so many; try again in ${retryAfterSeconds} s.`;
