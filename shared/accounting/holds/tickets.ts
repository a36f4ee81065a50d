// Requests that wait for their turn at an item, in one queue, each with how it is answered.
import type { PlannedWrite, WaitingReservation, WaitingSettlement } from './plan-write.ts';
import type { ReservationOutcome, SettlementOutcome } from './requests.ts';

export interface Turn {
  readonly number: number;
  readonly arrivedAtMs: number;
  asks: number;
  readonly reject: (error: unknown) => void;
}

export interface ReservationTicket extends Turn, WaitingReservation {
  readonly owner: string | undefined;
  isSeenAfter: boolean;
  readonly resolve: (outcome: ReservationOutcome) => void;
}

export interface SettlementTicket extends Turn, WaitingSettlement {
  readonly owner: string;
  readonly resolve: (outcome: SettlementOutcome) => void;
}

export type Ticket = ReservationTicket | SettlementTicket;

export const isReservation = (ticket: Ticket): ticket is ReservationTicket => 'assess' in ticket;
export const isSettlement = (ticket: Ticket): ticket is SettlementTicket => 'settlement' in ticket;

export type TicketsWrite = PlannedWrite<ReservationTicket, SettlementTicket>;

export const ticketsOf = (write: TicketsWrite | undefined): Ticket[] =>
  write === undefined ? [] : [...write.settled.map(({ waiting }) => waiting), ...write.reserved];
