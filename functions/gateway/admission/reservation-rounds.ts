// How many rounds the reservations of a call take. One, as a rule. But what a call reserves and releases again is missing
// to others meanwhile: a call that may not run at all reserves no money and no slot before that is known.
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import type { Order, Reservation } from './reservation.ts';

export interface Doubts {
  /** It may be answered from what is stored, or be refused for its key, its Idempotency-Key or its span. */
  readonly runs: boolean;
  /** It may be refused for money. */
  readonly pays: boolean;
}

export function doubtsOf({ recentRefusals }: ChatDependencies, call: IdentifiedCall, asksCache: boolean): Doubts {
  const { idempotencyKey, scope, credential, workspace } = call;
  const hasName = idempotencyKey !== undefined || scope.correlation.spanId !== undefined;
  return {
    runs: hasName || asksCache || recentRefusals.has(keyRefusal(credential.publicId)),
    pays: recentRefusals.has(spendRefusal(credential.publicId)) || recentRefusals.has(creditRefusal(workspace.id)),
  };
}

/** How `recentRefusals` names a refused key, its refused spending, and a workspace whose credit was refused. */
export const keyRefusal = (publicId: string): string => `key ${publicId}`;
export const spendRefusal = (publicId: string): string => `spend ${publicId}`;
export const creditRefusal = (workspaceId: string): string => `credit ${workspaceId}`;

export function inRounds(reservations: readonly Reservation[], { runs, pays }: Doubts): Reservation[][] {
  const ofOrder = (...orders: Order[]) => reservations.filter(({ order }) => orders.includes(order));
  if (pays) return [ofOrder('names'), ofOrder('spend'), ofOrder('credit'), ofOrder('rest')];
  return runs ? [ofOrder('names'), ofOrder('spend', 'credit', 'rest')] : [[...reservations]];
}
