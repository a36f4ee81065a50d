// Requests that wait for their turn at an item, in one queue, each with how it is answered.
import type { PlannedWrite, WaitingReservation, WaitingSettlement } from './plan-write.ts';
import type { ReservationOutcome, SettlementOutcome } from './requests.ts';

export interface Turn {
  readonly number: number;
  readonly arrivedAtMs: number;
  asks: number;
  readonly reject: (error: unknown) => void;
}

export interface QueuedReservation extends Turn, WaitingReservation {
  readonly owner: string | undefined;
  isReadLater: boolean;
  readonly resolve: (outcome: ReservationOutcome) => void;
}

export interface QueuedSettlement extends Turn, WaitingSettlement {
  readonly owner: string;
  readonly resolve: (outcome: SettlementOutcome) => void;
}

export type QueuedRequest = QueuedReservation | QueuedSettlement;

export const isReservation = (request: QueuedRequest): request is QueuedReservation => 'assess' in request;
export const isSettlement = (request: QueuedRequest): request is QueuedSettlement => 'settlement' in request;

export type QueuedWrite = PlannedWrite<QueuedReservation, QueuedSettlement>;

export const requestsOf = (write: QueuedWrite | undefined): QueuedRequest[] =>
  write === undefined ? [] : [...write.settled.map(({ waiting }) => waiting), ...write.reserved];
