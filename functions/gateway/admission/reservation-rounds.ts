// What of a call's reservations is asked for first. What a call reserves and releases again is missing to others meanwhile:
// so where a call is likely to end, the rest waits for another round. As a rule all is one round.
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type ConcurrencyLimits, isNearConcurrency } from './concurrency.ts';
import type { Reservation } from './reservation.ts';

/** In the order in which they are asked. */
export interface ReservationGroups {
  /** The key and the names of the call: what is stored may be its answer, or one of them may refuse it. */
  readonly names: readonly Reservation[];
  /** The money and the slot of the key, where the write that counts its request does not take them. */
  readonly keyHold: readonly Reservation[];
  /** The credit of the workspace, and its slot. */
  readonly credit: readonly Reservation[];
  readonly rest: readonly Reservation[];
}

/** Side by side: where two of them are apart, what stands behind is asked only when what stands before has let the call pass. */
export interface Rounds {
  readonly isNamesApart: boolean;
  readonly isKeyHoldApart: boolean;
  readonly isCreditApart: boolean;
}

interface Asked {
  readonly asksCache: boolean;
  readonly limits: ConcurrencyLimits;
  /** Of the workspace's slots and of those of pools: are any asked for? */
  readonly takesCreditSlot: boolean;
  readonly takesPoolSlot: boolean;
}

export function roundsOf(deps: GatewayDependencies, call: IdentifiedCall, asked: Asked): Rounds {
  const { recentRefusals } = deps;
  const { idempotencyKey, scope, credential, workspace } = call;
  const { asksCache, limits, takesCreditSlot, takesPoolSlot } = asked;
  const { publicId } = credential;
  const hasName = idempotencyKey !== undefined || scope.correlation.spanId !== undefined;
  const wasSlotRefused = (name: string) => recentRefusals.has(slotRefusal(name));
  // A slot that a call takes and gives back is missing to another client meanwhile.
  const isKeyNear =
    (takesCreditSlot || takesPoolSlot) && (wasSlotRefused(publicId) || isNearConcurrency(deps, limits, call));
  const isNamesApart = hasName || asksCache || recentRefusals.has(keyRefusal(publicId));
  // One more round for money is enough.
  const isSpendRefused = !isNamesApart && recentRefusals.has(spendRefusal(publicId));
  const isCreditRefused = !isNamesApart && !isSpendRefused && recentRefusals.has(creditRefusal(workspace.id));
  return {
    isNamesApart,
    isKeyHoldApart: isSpendRefused || (isKeyNear && takesCreditSlot),
    isCreditApart: isCreditRefused || (takesPoolSlot && (isKeyNear || takesCreditSlot)),
  };
}

export function inRounds({ names, keyHold, credit, rest }: ReservationGroups, rounds: Rounds): Reservation[][] {
  const all: Reservation[][] = [[...names]];
  const add = (group: readonly Reservation[], isApart: boolean): void => {
    if (isApart) all.push([...group]);
    else all.at(-1)?.push(...group);
  };
  add(keyHold, rounds.isNamesApart);
  add(credit, rounds.isKeyHoldApart);
  add(rest, rounds.isCreditApart);
  return all.filter((round) => round.length > 0);
}

/** How `recentRefusals` names a refused key, its refused spending, and a workspace whose credit was refused. */
export const keyRefusal = (publicId: string): string => `key ${publicId}`;
export const spendRefusal = (publicId: string): string => `spend ${publicId}`;
export const creditRefusal = (workspaceId: string): string => `credit ${workspaceId}`;
/** Of a key or a workspace. */
export const slotRefusal = (id: string): string => `slot ${id}`;
