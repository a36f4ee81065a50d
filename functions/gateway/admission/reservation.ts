// Reserves the names, money, tokens and slots of a call in the store before a provider is called. Finds the error that
// takes precedence, and releases everything that a refused call has reserved.
import type { GatewayError } from '../../../shared/errors/index.ts';
import type { Clock, TimeBudget } from '../../../shared/foundation/time/index.ts';
import type { DeferredTasks } from '../../../shared/protocol/router/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import { type Item, retryWrite, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { CallReservations, ExistingAnswer } from '../stages.ts';

/** Precedence of errors. The precedence does not depend on the order in which the store answers. */
const ranks = ['key', 'idempotency', 'span', 'plan', 'guardrail', 'cache', 'money', 'capacity', 'candidate'] as const;
type Rank = (typeof ranks)[number];

/** Reason why a call does not continue to a provider: an error, or an answer that exists already. */
type Resolution =
  | { readonly rank: Rank; readonly error: unknown; readonly existingAnswer?: undefined }
  | { readonly rank: Rank; readonly existingAnswer: ExistingAnswer; readonly error?: undefined };

/** Reason of a release. It stays in memory until everything is released, so it does not refer to an existing answer. */
interface ReleaseCause {
  readonly hasAnswer: boolean;
  /** The error that the client gets; undefined if the reservations failed. */
  readonly error: unknown;
}

export type Release = (cause: ReleaseCause) => Promise<unknown>;

export interface ReservationResult {
  /** Undefined if the call may continue. */
  readonly resolution?: Resolution | undefined;
  readonly reservations?: CallReservations | undefined;
  /** The plan with the remaining candidates; undefined if all candidates remain. */
  readonly plan?: Plan;
  /** Undefined if nothing was taken. */
  readonly release?: Release | undefined;
  /** The key of the call as the store has it, if it was read. */
  readonly key?: Item | undefined;
}

export interface Reservation {
  readonly rank: Rank;
  reserve(): Promise<ReservationResult>;
  /** Releases a reservation that may exist because the response to its write was lost. */
  readonly releaseUncertain?: Release | undefined;
  /**
   * True if the release has to happen before the client gets the error, because a retry may use the same
   * Idempotency-Key or span id.
   */
  readonly mustReleaseBeforeAnswer?: boolean;
  /**
   * Checks for a refusal without taking anything. Called if an error of lower precedence was found before this
   * reservation ran.
   */
  readonly check?: (() => Promise<ReservationResult>) | undefined;
}

export interface ReservationGroup {
  /** An undefined element is a reservation that the call does not need. */
  readonly reservations: readonly (Reservation | undefined)[];
  /** True if one of the reservations is likely to refuse the call. Later groups then wait for this group. */
  readonly mayRefuse: boolean;
}

export const refusalResult = (rank: Rank, error: unknown): ReservationResult => ({ resolution: { rank, error } });

export interface ReserveContext {
  readonly clock: Clock;
  readonly deferred: DeferredTasks;
  /** The store gets two seconds to answer. */
  readonly admissionTime: TimeBudget;
  /** Refuses models of the plan, or of an existing answer, that the key may not use. */
  readonly refuseModels: (key: Item, existingAnswer: ExistingAnswer | undefined) => GatewayError | undefined;
}

interface StartedReservation {
  readonly reservation: Reservation;
  readonly reserved: Promise<ReservationResult>;
}

interface CallReserved {
  readonly reservations: CallReservations;
  /** Undefined if all candidates remain. */
  readonly plan: Plan | undefined;
  readonly key: Item | undefined;
}

export interface ExistingResult {
  readonly existingAnswer: ExistingAnswer;
  readonly key: Item | undefined;
}

/** Rounds that are created only after all earlier rounds have succeeded. */
interface LaterRounds {
  /** Reservations whose `check` runs if the rounds are never created. */
  readonly checked: readonly Reservation[];
  readonly make: () => Promise<readonly (readonly Reservation[])[]>;
}

export type Rounds = readonly (readonly Reservation[] | LaterRounds)[];

/**
 * Runs the rounds one after the other. Returns an existing answer, or everything that the rounds reserved. Throws the
 * error that takes precedence.
 */
export async function reserveAll(rounds: Rounds, context: ReserveContext): Promise<CallReserved | ExistingResult> {
  const started: StartedReservation[] = [];
  let reservations: CallReservations = {};
  let plan: Plan | undefined;
  let key: Item | undefined;
  const releaseAndThrow = (error: unknown): never => {
    releaseLater(started, failedReservations, context);
    throw error;
  };
  const pending = [...rounds];
  for (let round = pending.shift(); round !== undefined; round = pending.shift()) {
    if ('make' in round) {
      pending.unshift(...(await round.make().catch(releaseAndThrow)));
      continue;
    }
    let outcomes: readonly ReservationResult[];
    try {
      outcomes = await reserveRound(started, round, context);
    } catch (error) {
      return releaseAndThrow(error);
    }
    const resolution = resolve(outcomes, context);
    key ??= findKey(outcomes);
    if (resolution !== undefined) {
      const later = pending.flatMap((laterRound) => ('make' in laterRound ? laterRound.checked : laterRound));
      const laterChecks = await checkHigherRanks(resolution, later, context).catch(releaseAndThrow);
      return releaseAndResolve(started, { ...laterChecks, key: laterChecks.key ?? key }, context);
    }
    reservations = { ...reservations };
    for (const outcome of outcomes) Object.assign(reservations, outcome.reservations);
    plan = outcomes.find((outcome) => outcome.plan !== undefined)?.plan ?? plan;
  }
  return { reservations, plan, key };
}

/**
 * Runs the reservations whose errors take precedence over an error of the plan. Returns an answer that exists already;
 * throws the error that takes precedence.
 */
export async function reserveForRefusedPlan(
  round: readonly Reservation[],
  refusal: GatewayError,
  context: ReserveContext,
): Promise<ExistingResult> {
  const started: StartedReservation[] = [];
  let outcomes: readonly ReservationResult[];
  try {
    outcomes = await reserveRound(started, round, context);
  } catch (error) {
    releaseLater(started, failedReservations, context);
    throw error;
  }
  const resolution = resolve(outcomes, context) ?? { rank: 'plan', error: refusal };
  return releaseAndResolve(started, { resolution, key: findKey(outcomes) }, context);
}

/** Returns the resolution, or a resolution with higher precedence from the rounds that will not run. */
async function checkHigherRanks(
  resolution: Resolution,
  later: readonly Reservation[],
  context: ReserveContext,
): Promise<FinalResolution> {
  const checks = later.flatMap(({ rank, check }) =>
    check !== undefined && ranks.indexOf(rank) < ranks.indexOf(resolution.rank) ? checkOne(rank, check) : [],
  );
  if (checks.length === 0) return { resolution };
  const resolutions = await context.admissionTime.wait(Promise.all(checks));
  return { resolution: resolve([{ resolution }, ...resolutions], context) ?? resolution, key: findKey(resolutions) };
}

/** Starts the reservations of a round together, and adds them to `started`. Rejects with the first failure. */
function reserveRound(
  started: StartedReservation[],
  round: readonly Reservation[],
  { admissionTime }: ReserveContext,
): Promise<readonly ReservationResult[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly ReservationResult[]>();
  const results = round.map(() => nothingReserved);
  let running = round.length;
  for (const [at, reservation] of round.entries()) {
    const end = (result: ReservationResult): ReservationResult => {
      results[at] = result;
      running -= 1;
      if (running === 0) resolve(results);
      return result;
    };
    const reserved = reservation.reserve().then(end, (error: unknown) => {
      if (error instanceof StoreUnavailable) return end(unavailable(reservation, error));
      reject(error);
      return nothingReserved;
    });
    started.push({ reservation, reserved });
  }
  return admissionTime.wait(promise);
}

const nothingReserved: ReservationResult = {};

interface FinalResolution {
  readonly resolution: Resolution;
  readonly key?: Item | undefined;
}

/** Releases what the call has taken, then returns the existing answer or throws the error. */
async function releaseAndResolve(
  started: readonly StartedReservation[],
  { resolution, key }: FinalResolution,
  context: ReserveContext,
): Promise<ExistingResult> {
  const { existingAnswer, error } = resolution;
  const cause = { hasAnswer: existingAnswer !== undefined, error };
  if (existingAnswer !== undefined) {
    releaseLater(started.map(withoutAnswer), cause, context);
    return { existingAnswer, key };
  }
  const releasedBefore = started.filter(({ reservation }) => reservation.mustReleaseBeforeAnswer === true);
  const releasedAfter = started.filter(({ reservation }) => reservation.mustReleaseBeforeAnswer !== true);
  releaseLater(releasedAfter, cause, context);
  await releaseAll(releasedBefore, cause, (release) => release()).catch(() =>
    releaseLater(releasedBefore, cause, context),
  );
  throw error;
}

/** The cause of a release without a resolution. */
const failedReservations: ReleaseCause = { hasAnswer: false, error: undefined };

/** Returns the reservation without an answer that it has found. */
const withoutAnswer = ({ reservation, reserved }: StartedReservation): StartedReservation => ({
  reservation,
  reserved: reserved.then(({ release }) => ({ release })),
});

const releaseLater = (
  started: readonly StartedReservation[],
  cause: ReleaseCause,
  { clock, deferred }: ReserveContext,
): void => deferred.add(() => releaseAll(started, cause, (release) => retryWrite(clock, release)));

/** Converts a failure of the store to an error like any other, because an error of higher precedence may replace it. */
const unavailable = (
  { rank, releaseUncertain }: Pick<Reservation, 'rank' | 'releaseUncertain'>,
  error: StoreUnavailable,
): ReservationResult => ({ ...refusalResult(rank, error), release: releaseUncertain });

const checkOne = (rank: Rank, check: NonNullable<Reservation['check']>): Promise<ReservationResult> =>
  check().catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    return unavailable({ rank }, error);
  });

/**
 * Returns the resolution with the highest precedence. The refusal of a model that the key may not use has the rank
 * `plan`, and takes precedence over an answer that exists already.
 */
function resolve(outcomes: readonly ReservationResult[], { refuseModels }: ReserveContext): Resolution | undefined {
  let best: Resolution | undefined;
  for (const { resolution } of outcomes) {
    if (resolution === undefined) continue;
    if (best === undefined || ranks.indexOf(resolution.rank) < ranks.indexOf(best.rank)) best = resolution;
  }
  const key = findKey(outcomes);
  const refusal = key && refuseModels(key, best?.existingAnswer);
  const refusalWins =
    best?.existingAnswer !== undefined || best === undefined || ranks.indexOf('plan') < ranks.indexOf(best.rank);
  return refusal !== undefined && refusalWins ? { rank: 'plan', error: refusal } : best;
}

const findKey = (outcomes: readonly ReservationResult[]): Item | undefined =>
  outcomes.find(({ key }) => key !== undefined)?.key;

/** Rejects with the first failure, after every release was tried. */
async function releaseAll(
  started: readonly StartedReservation[],
  cause: ReleaseCause,
  attempt: (release: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const outcomes = await Promise.allSettled(started.map(({ reserved }) => reserved));
  const releases = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value.release !== undefined ? [outcome.value.release] : [],
  );
  const ended = await Promise.allSettled(releases.map((release) => attempt(() => release(cause))));
  const failure = ended.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
