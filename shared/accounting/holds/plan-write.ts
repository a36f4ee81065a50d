// Plans the next write to an item for the requests that wait for it, and refuses some of them. Pure.
//
// Invariants of a counter after every write, whichever process stops in between (a hold is a reservation in a counter):
//
//   1. balance + held + spent = total granted; held is the sum of the buckets. Each write moves an amount from one term
//      to another, so a crash between two writes loses nothing and creates nothing.
//   2. A hold is taken only if limit + balance covers it in the same instant, so no number of concurrent calls can hold
//      and spend more than the limit. Only real costs exceed it: above the amount held, or late.
//   3. A settlement removes its amount from its bucket. If the bucket no longer has the amount, the owner is late: the
//      amount was released, and the cost is charged although nothing is held for it, because the provider was paid.
//   4. An expired bucket is released once: the write compares it with the amount that it releases.
import type { SeenItem } from './counter.ts';
import type { AfterCall, Assess, Assessment, Demand, ReservationOutcome, SettlementOutcome } from './requests.ts';
import type { DraftedWrite } from './update-draft.ts';
import { WriteGroup } from './write-group.ts';

interface WaitingReservation {
  readonly assess: Assess;
  /** True if the item was read after the reservation arrived, so that its state may refuse the reservation. */
  readonly isReadLater: boolean;
}

interface WaitingSettlement {
  readonly settlement: AfterCall;
}

interface WritePlan<Reservation, Settling> {
  /** Requests that need no write. */
  readonly answered: readonly (readonly [Reservation, ReservationOutcome])[];
  readonly gone: readonly Settling[];
  readonly write: PlannedWrite<Reservation, Settling> | undefined;
}

/** The write, and the requests that it serves. */
interface PlannedWrite<Reservation, Settling> {
  readonly drafted: DraftedWrite;
  readonly reserved: readonly Reservation[];
  readonly settled: readonly { readonly waiting: Settling; readonly wasLate: boolean }[];
  /** True if one of the requests needs the item as the store has it after the write. */
  readonly needsItem: boolean;
}

/**
 * Plans a write. Settlements and corrections always fit. Reservations join in order of arrival, as long as they fit. A
 * reservation that does not fit is refused if the item was read after the reservation arrived. Otherwise it waits for
 * the answer of this write. It waits alone if other requests of this write are in its way. If the known item may be too
 * old, all requests that arrived later wait too. If nothing is refused and nothing written, the item must be read
 * first.
 */
export function planWrite<Reservation extends WaitingReservation, Settling extends WaitingSettlement>(
  reservations: readonly Reservation[],
  settlements: readonly Settling[],
  seen: SeenItem | undefined,
  nowMs: number,
): WritePlan<Reservation, Settling> {
  const group = new WriteGroup(seen, nowMs);
  const goneSettlements: Settling[] = [];
  const settled: { readonly waiting: Settling; readonly wasLate: boolean }[] = [];
  for (const waiting of settlements) {
    const { settlement } = waiting;
    const outcome = outcomeIn(group, settlement);
    if (outcome === 'gone') goneSettlements.push(waiting);
    else settled.push({ waiting, wasLate: outcome === 'late' });
  }
  const assessments = reservations.map((reservation) => reservation.assess(seen, nowMs));
  const demands: Pick<Demand, 'balances' | 'hold' | 'slot'>[] = assessments.filter(isDemand);
  for (const { settlement } of settlements) if (settlement.kind !== 'correct') demands.push(settlement.counter);
  group.releaseExpired(demands);
  const answers: [Reservation, ReservationOutcome][] = [];
  const reserved: Reservation[] = [];
  let needsItem = settled.some(
    ({ waiting: { settlement } }) => settlement.kind === 'settle' && settlement.needsItem === true,
  );
  for (const [at, assessment] of assessments.entries()) {
    const reservation = reservations[at] as Reservation;
    const isWriting = settled.length > 0 || reserved.length > 0;
    const verdict = isDemand(assessment) ? group.judge(assessment, isWriting) : assessment;
    if (verdict === 'fits') {
      reserved.push(reservation);
      needsItem ||= isDemand(assessment) && assessment.needsItem === true;
      continue;
    }
    if (verdict === 'wait') continue;
    if (verdict === 'look' || !(reservation.isReadLater || ('isFinal' in verdict && verdict.isFinal))) break;
    const item = seen?.item ?? {};
    answers.push([reservation, 'reason' in verdict ? { kind: 'refused', item, reason: verdict.reason } : verdict]);
  }
  const isEmpty = settled.length === 0 && reserved.length === 0;
  return {
    answered: answers,
    gone: goneSettlements,
    write: isEmpty ? undefined : { drafted: group.finish(), reserved, settled, needsItem },
  };
}

function outcomeIn(group: WriteGroup, settlement: AfterCall) {
  if (settlement.kind === 'correct') return group.correct(settlement);
  return settlement.kind === 'charge' ? group.charge(settlement) : group.settle(settlement);
}

const isDemand = (assessment: Assessment): assessment is Demand => assessment !== 'look' && !('reason' in assessment);

interface QueuedTurn {
  readonly number: number;
  readonly arrivedAtMs: number;
  asks: number;
  readonly reject: (error: unknown) => void;
}

interface QueuedReservation extends QueuedTurn, WaitingReservation {
  readonly owner: string | undefined;
  isReadLater: boolean;
  readonly resolve: (outcome: ReservationOutcome) => void;
}

interface QueuedSettlement extends QueuedTurn, WaitingSettlement {
  readonly owner: string;
  readonly resolve: (outcome: SettlementOutcome) => void;
}

export type QueuedRequest = QueuedReservation | QueuedSettlement;

export const isReservation = (request: QueuedRequest): request is QueuedReservation => 'assess' in request;
export const isSettlement = (request: QueuedRequest): request is QueuedSettlement => 'settlement' in request;

export type QueuedWrite = PlannedWrite<QueuedReservation, QueuedSettlement>;

export const requestsOf = (write: QueuedWrite | undefined): QueuedRequest[] =>
  write === undefined ? [] : [...write.settled.map(({ waiting }) => waiting), ...write.reserved];
