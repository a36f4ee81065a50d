// Lists the limits of concurrent calls for a key, for a workspace, and for the whole service. Null means no limit. The
// slots of a key are in the item that counts its requests, the slots of a workspace in the item of its credit; other
// slots have pools of their own.
import {
  concurrencyOf as concurrencyOfKey,
  hasOwnLimits,
  readSlotsInUse,
} from '../../../shared/accounting/holds/index.ts';
import type { SlotPool } from '../../../shared/accounting/slots/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { countsOnly, type StageResource } from '../../../shared/foundation/constants/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall, ParsedCall } from '../stages.ts';

export interface ConcurrencyLimits {
  readonly service: number | null;
  /** Pools that share all slots of the service, in the order in which a call takes slots. */
  readonly servicePools: readonly SlotPool[];
  readonly workspace: number | null;
  /** Limit of keys that set no limit; null if the slot is not counted with the request. */
  readonly keyDefault: number | null;
  /** Set for a call that would write to its key only to take a slot. */
  readonly keylessLimits: KeylessLimits | undefined;
}

export interface KeylessLimits {
  readonly service: number;
  readonly keyless: SlotPool;
  readonly rest: SlotPool;
  /** Maximum number of slots of a key, not including slots of `keyless`. */
  readonly keySlotsMax: number;
}

/** The service's share of a stage, so that the gateway and not Lambda refuses calls over a limit. */
const stageShare = 0.9;
/** Share of the service's slots that one key may use. No key can therefore use all slots of the service. */
const keyShare = 0.5;
/**
 * Share of the service's slots for calls of keys with the default limit. Such a call takes a slot of this pool first,
 * and a slot of its key only if the pool has no free slot. So it writes nothing to its key while less than a quarter of
 * the service is in use.
 */
const keylessShare = 0.25;

const unlimited: ConcurrencyLimits = {
  ...{ service: null, servicePools: [], workspace: null, keyDefault: null, keylessLimits: undefined },
};

export function concurrencyLimitsOf(
  { stageConcurrency }: Pick<GatewayDependencies, 'stageConcurrency'>,
  { parsed, catalogue, workspace, key }: IdentifiedCall,
): ConcurrencyLimits {
  if (countsOnly(parsed.clientInterface.id)) return unlimited;
  const { concurrency, key_concurrency } = catalogue.service;
  const workspaceSlots = workspace.concurrency ?? null;
  const service = concurrency ?? (stageConcurrency === undefined ? null : shareOf(stageConcurrency, stageShare));
  if (service === null || stageConcurrency === undefined || key_concurrency != null) {
    const servicePools = service === null ? [] : [{ key: servicePoolKey, slots: service }];
    const keyDefault = key_concurrency ?? null;
    return { service, servicePools, workspace: workspaceSlots, keyDefault, keylessLimits: undefined };
  }
  const keyMax = shareOf(service, keyShare);
  const keylessSlots = Math.floor(service * keylessShare);
  const rest = { key: servicePoolKey, slots: service - keylessSlots };
  const keyless = { key: `${servicePoolKey}#KEYLESS`, slots: keylessSlots, hasSubstitute: true };
  // Calls with a workspace limit, and function calls, take other slots between the slots of key and service.
  const isKeyless = keylessSlots > 0 && workspaceSlots === null && !parsed.isFunctionCall && !hasOwnLimits(key);
  return {
    service,
    servicePools: keylessSlots > 0 ? [rest, keyless] : [rest],
    workspace: workspaceSlots,
    keyDefault: isKeyless ? null : keyMax,
    keylessLimits: isKeyless ? { service, keyless, rest, keySlotsMax: keyMax - keylessSlots } : undefined,
  };
}

const servicePoolKey = 'SERVICECALLS';

const shareOf = (whole: number, share: number): number => Math.max(1, Math.floor(whole * share));

/**
 * Returns true if the key is near its concurrency limit. The key's reservation then runs before all other reservations.
 */
export function isNearConcurrency(
  { callsUnderWay, clock }: GatewayDependencies,
  { keyDefault }: ConcurrencyLimits,
  { parsed: { credential }, key }: IdentifiedCall,
): boolean {
  const limit = concurrencyOfKey({ defaultConcurrency: keyDefault }, key);
  if (limit === null) return false;
  const seen = Math.max(readSlotsInUse(key, clock.nowMs()), callsUnderWay.countOf(credential.publicId));
  return seen > limit * keyShare;
}

/**
 * Counts the call as in progress in this process, until it ends, so that many calls of one key are noticed before the
 * store has counted their slots.
 */
export function enterUnderWay({ callsUnderWay }: GatewayDependencies, { credential, scope }: ParsedCall): void {
  const leave = callsUnderWay.enter(credential.publicId);
  scope.deferred.add(leave);
}

/** Calls run for seconds, so a longer wait would find no free slot. */
export const retryAfterSeconds = 1;

export const keyConcurrencyError = (concurrency: number): GatewayError =>
  fail('api_key_rate_limit', { retryAfterSeconds, message: messageOf('The key', concurrency) });

/** The message has no number, because the key's share of the common slots is not counted. */
export const keylessError = ({ keyless, keySlotsMax }: KeylessLimits): GatewayError =>
  fail('api_key_rate_limit', {
    retryAfterSeconds,
    message:
      `The key may have ${keyless.slots + keySlotsMax} calls in flight at once, its concurrency, ` +
      `${keyless.slots} of them in slots that all keys share, and none is free; try again in ${retryAfterSeconds} s.`,
  });

export const serviceError = (
  { service }: Pick<ConcurrencyLimits, 'service'>,
  { isFunctionCall }: Pick<ParsedCall, 'isFunctionCall'>,
): GatewayError => concurrencyError('The gateway', service ?? 0, { isFunctionCall, exhausted: 'service_concurrency' });

/** Returns the error of a workspace or of the service. */
export const concurrencyError = (
  whose: string,
  concurrency: number,
  { isFunctionCall, exhausted }: { readonly isFunctionCall: boolean; readonly exhausted?: StageResource | undefined },
): GatewayError =>
  fail(isFunctionCall ? 'execution_capacity' : 'rate_limited', {
    retryAfterSeconds,
    ...(exhausted === undefined ? {} : { exhausted }),
    message: messageOf(whose, concurrency),
  });

const messageOf = (whose: string, concurrency: number): string =>
  `${whose} may have ${concurrency} ${concurrency === 1 ? 'call' : 'calls'} in flight at once, its concurrency, and has so many; try again in ${retryAfterSeconds} s.`;
