// Splits what a call reserves into rounds. What it takes and releases again is missing to others meanwhile: so what stands
// behind a reservation that may well refuse the call waits for its answer. As a rule none may, and all is one round.
import type { Reservation } from './reservation.ts';

export interface ReservationGroup {
  /** Undefined: not needed by the call. */
  readonly reservations: readonly (Reservation | undefined)[];
  readonly mayRefuse: boolean;
}

export function inRounds(groups: readonly ReservationGroup[]): Reservation[][] {
  const rounds: Reservation[][] = [[]];
  for (const { reservations, mayRefuse } of groups) {
    rounds.at(-1)?.push(...reservations.filter((one) => one !== undefined));
    if (mayRefuse) rounds.push([]);
  }
  return rounds.filter((round) => round.length > 0);
}
