// Runs the reservations of a call in the store before a provider is called: finds the error that takes precedence, and
// releases everything that a refused call took.
import type { GatewayError } from '../../../shared/errors/index.ts';
import type { Clock, TimeBudget } from '../../../shared/foundation/time/index.ts';
import type { DeferredTasks } from '../../../shared/protocol/router/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import { type Item, retryWrite, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { CallReservations, ReadyAnswer } from '../stages.ts';

/** The order in which errors win, whatever order the answers of the store came in. */
const ranks = ['key', 'idempotency', 'span', 'plan', 'guardrail', 'cache', 'money', 'capacity', 'candidate'] as const;
type Rank = (typeof ranks)[number];

/** Why a call does not continue to a provider: an error, or an answer that exists already. */
export type Resolution =
  | { readonly rank: Rank; readonly error: unknown; readonly ready?: undefined }
  | { readonly rank: Rank; readonly ready: ReadyAnswer; readonly error?: undefined };

export type Release = (resolution: Resolution | undefined) => Promise<unknown>;

export interface ReservationResult {
  /** Undefined when the call may go on. */
  readonly resolution?: Resolution | undefined;
  readonly holdings?: CallReservations | undefined;
  /** The remaining candidates; all if absent. */
  readonly plan?: Plan;
  /** Undefined when nothing was taken. */
  readonly release?: Release | undefined;
  /** The key of the call as the store has it, if it was read. */
  readonly key?: Item | undefined;
}

export interface Reservation {
  readonly rank: Rank;
  reserve(): Promise<ReservationResult>;
  /** Releases what a write whose answer was lost may have taken. */
  readonly releaseUncertain?: Release | undefined;
  /**
   * True where the release has to happen before the client knows of the refusal: its next call may bring the same name.
   */
  readonly releasedFirst?: boolean;
  /** Checks for a refusal without taking anything, where a later error came in first. */
  readonly check?: (() => Promise<ReservationResult>) | undefined;
}

export interface ReservationGroup {
  /** Undefined ones are not needed by the call. */
  readonly reservations: readonly (Reservation | undefined)[];
  readonly mayRefuse: boolean;
}

export const refused = (rank: Rank, error: unknown): ReservationResult => ({ resolution: { rank, error } });

export interface ReserveContext {
  readonly clock: Clock;
  readonly deferred: DeferredTasks;
  /** The store gets two seconds to answer. */
  readonly admissionTime: TimeBudget;
  /** Refuses models of the plan, or of a ready answer, that the key may not use. */
  readonly refuseModels: (key: Item, ready: ReadyAnswer | undefined) => GatewayError | undefined;
}

interface Started {
  readonly reservation: Reservation;
  readonly reserved: Promise<ReservationResult>;
}

interface AllReserved {
  readonly holdings: CallReservations;
  /** Undefined when all candidates remain. */
  readonly plan: Plan | undefined;
  readonly key: Item | undefined;
}

export interface FoundReady {
  readonly ready: ReadyAnswer;
  readonly key: Item | undefined;
}

/** Rounds that are made when the rounds before them have passed. */
interface LaterRounds {
  /** Reservations of these rounds that are checked for an error that takes precedence while the rounds are not made. */
  readonly checked: readonly Reservation[];
  readonly make: () => Promise<readonly (readonly Reservation[])[]>;
}

export type Rounds = readonly (readonly Reservation[] | LaterRounds)[];

/**
 * Runs the rounds one after the other. Returns an answer that exists already, or everything that the rounds reserved;
 * throws the error that takes precedence.
 */
export async function reserveAll(rounds: Rounds, context: ReserveContext): Promise<AllReserved | FoundReady> {
  const started: Started[] = [];
  let holdings: CallReservations = {};
  let plan: Plan | undefined;
  let key: Item | undefined;
  const failed = (error: unknown): never => {
    releaseLater(started, undefined, context);
    throw error;
  };
  const pending = [...rounds];
  for (let round = pending.shift(); round !== undefined; round = pending.shift()) {
    if ('make' in round) {
      pending.unshift(...(await round.make().catch(failed)));
      continue;
    }
    let outcomes: readonly ReservationResult[];
    try {
      outcomes = await reserveRound(started, round, context);
    } catch (error) {
      return failed(error);
    }
    const resolution = resolve(outcomes, context);
    key ??= keyOf(outcomes);
    if (resolution !== undefined) {
      const later = pending.flatMap((one) => ('make' in one ? one.checked : one));
      const checked = await checkBefore(resolution, later, context).catch(failed);
      return end(started, { ...checked, key: checked.key ?? key }, context);
    }
    holdings = { ...holdings };
    for (const outcome of outcomes) Object.assign(holdings, outcome.holdings);
    plan = outcomes.find((outcome) => outcome.plan !== undefined)?.plan ?? plan;
  }
  return { holdings, plan, key };
}

/**
 * Checks what ranks before the refusal of a call's plan. Returns an answer that exists already; throws the error that
 * takes precedence.
 */
export async function reserveRefused(
  round: readonly Reservation[],
  refusal: GatewayError,
  context: ReserveContext,
): Promise<FoundReady> {
  const started: Started[] = [];
  let outcomes: readonly ReservationResult[];
  try {
    outcomes = await reserveRound(started, round, context);
  } catch (error) {
    releaseLater(started, undefined, context);
    throw error;
  }
  const resolution = resolve(outcomes, context) ?? { rank: 'plan', error: refusal };
  return end(started, { resolution, key: keyOf(outcomes) }, context);
}

/** Returns the resolution, or one of a better rank that the rounds which do not run any more would have found. */
async function checkBefore(
  resolution: Resolution,
  later: readonly Reservation[],
  context: ReserveContext,
): Promise<Ended> {
  const checks = later.flatMap(({ rank, check }) =>
    check !== undefined && ranks.indexOf(rank) < ranks.indexOf(resolution.rank) ? checkOne(rank, check) : [],
  );
  if (checks.length === 0) return { resolution };
  const checked = await context.admissionTime.wait(Promise.all(checks));
  return { resolution: resolve([{ resolution }, ...checked], context) ?? resolution, key: keyOf(checked) };
}

/** Starts the reservations of a round together, and adds them to `started`. Rejects with the first failure. */
function reserveRound(
  started: Started[],
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

interface Ended {
  readonly resolution: Resolution;
  readonly key?: Item | undefined;
}

/** Releases what the call has taken, then returns the ready answer or throws the error. */
async function end(
  started: readonly Started[],
  { resolution, key }: Ended,
  context: ReserveContext,
): Promise<FoundReady> {
  const first = started.filter(({ reservation }) => reservation.releasedFirst === true);
  const others = started.filter((one) => !first.includes(one));
  releaseLater(others, resolution, context);
  if (resolution.ready !== undefined) {
    releaseLater(first, resolution, context);
    return { ready: resolution.ready, key };
  }
  await releaseAll(first, resolution, (release) => release()).catch(() => releaseLater(first, resolution, context));
  throw resolution.error;
}

const releaseLater = (
  some: readonly Started[],
  resolution: Resolution | undefined,
  { clock, deferred }: ReserveContext,
): void => deferred.add(() => releaseAll(some, resolution, (release) => retryWrite(clock, release)));

/** Turns a failure of the store into an error like any other: an error of a better rank may still win over it. */
const unavailable = (
  { rank, releaseUncertain }: Pick<Reservation, 'rank' | 'releaseUncertain'>,
  error: StoreUnavailable,
): ReservationResult => ({ ...refused(rank, error), release: releaseUncertain });

const checkOne = (rank: Rank, check: NonNullable<Reservation['check']>): Promise<ReservationResult> =>
  check().catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    return unavailable({ rank }, error);
  });

/**
 * Returns the resolution of the best rank. A model that the key may not use ranks with the plan, and takes precedence
 * over an answer that exists already.
 */
function resolve(outcomes: readonly ReservationResult[], { refuseModels }: ReserveContext): Resolution | undefined {
  let first: Resolution | undefined;
  for (const { resolution } of outcomes) {
    if (resolution === undefined) continue;
    if (first === undefined || ranks.indexOf(resolution.rank) < ranks.indexOf(first.rank)) first = resolution;
  }
  const key = keyOf(outcomes);
  const refusal = key && refuseModels(key, first?.ready);
  const isFirst =
    first?.ready !== undefined || first === undefined || ranks.indexOf('plan') < ranks.indexOf(first.rank);
  return refusal !== undefined && isFirst ? { rank: 'plan', error: refusal } : first;
}

const keyOf = (outcomes: readonly ReservationResult[]): Item | undefined =>
  outcomes.find(({ key }) => key !== undefined)?.key;

/** Rejects with the first failure, after every release was tried. */
async function releaseAll(
  started: readonly Started[],
  resolution: Resolution | undefined,
  attempt: (release: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const outcomes = await Promise.allSettled(started.map(({ reserved }) => reserved));
  const releases = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value.release !== undefined ? [outcome.value.release] : [],
  );
  const ended = await Promise.allSettled(releases.map((release) => attempt(() => release(resolution))));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
