// How many calls may be in flight at once: of a key, of a workspace, of the whole service. Null: any number. The slots of a key
// stand in the item that counts its requests, those of a workspace in the item of its credit; what has no such item has a
// pool of its own.
import {
  concurrencyOf as concurrencyOfKey,
  hasOwnLimits,
  readSlotsInUse,
} from '../../../shared/accounting/holds/index.ts';
import type { SlotPool } from '../../../shared/accounting/slots/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { countsOnly, type StageResource } from '../../../shared/foundation/constants/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';

export interface ConcurrencyLimits {
  readonly service: number | null;
  /** In the order in which they are asked: together they have the slots of the service. */
  readonly servicePools: readonly SlotPool[];
  readonly workspace: number | null;
  /** Of a key that has none of its own, where its slot goes with its request. */
  readonly keyDefault: number | null;
  /** Of a call whose slot would be all that its key is written for. */
  readonly ofKeyless: KeylessLimits | undefined;
}

export interface KeylessLimits {
  readonly service: number;
  readonly keyless: SlotPool;
  readonly rest: SlotPool;
  /** Beside those of `keyless`. */
  readonly keySlotsMax: number;
}

/** What the service leaves of a stage, so that who is over a limit is told by the gateway and not by Lambda. */
const stageShare = 0.9;
/** One key never fills the service. */
const keyShare = 0.5;
/**
 * Slots of the service that need none of a key which the default alone limits: its calls take them first, and a slot of their key
 * only where none of these is free. So a call writes nothing to its key while less than a quarter of the service is taken.
 */
const keylessShare = 0.25;

const unlimited: ConcurrencyLimits = {
  ...{ service: null, servicePools: [], workspace: null, keyDefault: null, ofKeyless: undefined },
};

export function concurrencyLimitsOf(
  { stageConcurrency }: Pick<GatewayDependencies, 'stageConcurrency'>,
  { catalogue, workspace, clientInterface, key, asksFunction }: IdentifiedCall,
): ConcurrencyLimits {
  if (countsOnly(clientInterface.id)) return unlimited;
  const { concurrency, key_concurrency } = catalogue.service;
  const ofWorkspace = workspace.concurrency ?? null;
  const service = concurrency ?? (stageConcurrency === undefined ? null : shareOf(stageConcurrency, stageShare));
  if (service === null || stageConcurrency === undefined || key_concurrency != null) {
    const servicePools = service === null ? [] : [{ key: servicePoolKey, slots: service }];
    const keyDefault = key_concurrency ?? null;
    return { service, servicePools, workspace: ofWorkspace, keyDefault, ofKeyless: undefined };
  }
  const keyMax = shareOf(service, keyShare);
  const keylessSlots = Math.floor(service * keylessShare);
  const rest = { key: servicePoolKey, slots: service - keylessSlots };
  const keyless = { key: `${servicePoolKey}#KEYLESS`, slots: keylessSlots, hasSubstitute: true };
  // Of a workspace or of functions other slots are asked for between those of key and service.
  const isKeyless = keylessSlots > 0 && ofWorkspace === null && !asksFunction && !hasOwnLimits(key);
  return {
    service,
    servicePools: keylessSlots > 0 ? [rest, keyless] : [rest],
    workspace: ofWorkspace,
    keyDefault: isKeyless ? null : keyMax,
    ofKeyless: isKeyless ? { service, keyless, rest, keySlotsMax: keyMax - keylessSlots } : undefined,
  };
}

const servicePoolKey = 'SERVICECALLS';

const shareOf = (whole: number, share: number): number => Math.max(1, Math.floor(whole * share));

/** So many of its calls may be in flight that this one may be refused for it: then it takes nothing of others first. */
export function isNearConcurrency(
  { callsUnderWay, clock }: GatewayDependencies,
  { keyDefault }: ConcurrencyLimits,
  { key, credential }: IdentifiedCall,
): boolean {
  const limit = concurrencyOfKey({ defaultConcurrency: keyDefault }, key);
  if (limit === null) return false;
  const seen = Math.max(readSlotsInUse(key, clock.nowMs()), callsUnderWay.of(credential.publicId));
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

/** How many of the shared slots are those of this key is not counted. */
export const keylessError = ({ keyless, keySlotsMax }: KeylessLimits): GatewayError =>
  fail('api_key_rate_limit', {
    retryAfterSeconds,
    message:
      `The key may have ${keyless.slots + keySlotsMax} calls in flight at once, its concurrency, ` +
      `${keyless.slots} of them in slots that all keys share, and none is free; try again in ${retryAfterSeconds} s.`,
  });

export const serviceError = (
  { service }: Pick<ConcurrencyLimits, 'service'>,
  { asksFunction }: Pick<IdentifiedCall, 'asksFunction'>,
): GatewayError => concurrencyError('The gateway', service ?? 0, { asksFunction, exhausted: 'service_concurrency' });

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
