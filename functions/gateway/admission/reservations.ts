// Lists the reservations of a call, in one round or more.

import type { CreditAccount, CreditTake } from '../../../shared/accounting/credit/index.ts';
import type { Hold } from '../../../shared/accounting/holds/index.ts';
import type { Permit } from '../../../shared/accounting/limits/index.ts';
import type { SlotPool } from '../../../shared/accounting/slots/index.ts';
import type { GuardrailDocument } from '../../../shared/configuration/catalogue/index.ts';
import { readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { countsOnly, type StageResource } from '../../../shared/foundation/constants/index.ts';
import { type PicoUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { mostTokens, payerOf, tighten } from '../../../shared/routing/planner/index.ts';
import { askLimits } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, IdentifiedCall, PlannedCall, RoutedCall } from '../stages.ts';
import { type NamesReservation, reserveIdempotencyKey, reserveSpan } from './call-names.ts';
import {
  type ConcurrencyLimits,
  concurrencyError,
  concurrencyLimitsOf,
  enterUnderWay,
  isNearConcurrency,
  retryAfterSeconds,
  serviceError,
} from './concurrency.ts';
import { findCached } from './find-cached.ts';
import { type Advise, boundAdvice, insufficientMessage, noAdvice, type Shortage } from './money-message.ts';
import {
  type Reservation,
  type ReservationGroup,
  type ReservationResult,
  type Rounds,
  refusalResult,
} from './reservation.ts';
import { reserveBudgets } from './reserve-budgets.ts';
import { isShortOf, reserveKey } from './reserve-key.ts';
import { createPoolSlots, reserveKeyless } from './reserve-keyless.ts';

interface Reserving extends Pick<AdmittedCall, 'owner' | 'claims'> {
  /** The guardrails of the call and their check; undefined for a call without guardrails. */
  readonly guarded: { readonly guardrails: readonly GuardrailDocument[]; readonly checkInput: CheckInput } | undefined;
}

/** Checks the input before anything is reserved. Returns the call, with masks if a guardrail masked some text. */
type CheckInput = () => Promise<PlannedCall | GatewayError>;

export function reservationsOf(
  deps: GatewayDependencies,
  call: PlannedCall,
  { owner, claims, guarded }: Reserving,
): Rounds {
  const { identified, terms } = call;
  const cached =
    'execution' in call ? undefined : findCached(deps, call, { owner, claims, guardrails: guarded?.guardrails });
  const nameReservations = reserveNames(deps, identified, { owner, policy: terms.policy });
  const names = [...nameReservations, cached].filter((one) => one !== undefined);
  // An answer stored under the names of the call may be the result.
  const first = names.length === 0 ? [] : [names];
  if (guarded === undefined) return [...first, ...holdRounds(deps, call, owner)];
  const checks = [reserveKey(deps, identified, { advise: noAdvice })];
  const make = async () => {
    const passed = await guarded.checkInput();
    if (!(passed instanceof GatewayError)) return holdRounds(deps, passed, owner);
    const reserve = async () => refusalResult('guardrail', passed);
    return [[{ rank: 'guardrail' as const, reserve }], checks];
  };
  return [...first, { checked: checks, make }];
}

/** Returns the rounds that reserve everything the call takes until its end. */
function holdRounds(deps: GatewayDependencies, call: PlannedCall, owner: string): Reservation[][] {
  const routed = 'execution' in call ? undefined : call;
  const { identified } = call;
  const { parsed, workspace } = identified;
  const limits = concurrencyLimitsOf(deps, identified);
  const isCountOnly = countsOnly(parsed.clientInterface.id);
  const amount = holdAmountOf(call);
  const holder = { owner, expiresAtMs: parsed.leaseUntilMs };
  const held = (slot: boolean) => (amount === 0n && !slot ? undefined : { ...holder, amount, slot });
  const keyHold = held(!isCountOnly);
  // If its credit is spread over shards, a workspace has its slots in an item of its own.
  const isCreditSharded = (workspace.credit_shards ?? 1) > 1;
  const takesCreditSlot = limits.workspace !== null && !isCreditSharded;
  const capacity = reserveCapacity(deps, identified, { holder, limits, isCreditSharded });
  const { recentRefusals, clock } = deps;
  const mayKeyRefuse =
    recentRefusals.has(parsed.credential.publicId) ||
    isShortOf(amount, identified.key, clock.nowMs()) ||
    isNearConcurrency(deps, limits, identified);
  const mayCreditRefuse = recentRefusals.has(workspace.id) || (takesCreditSlot && capacity !== undefined);
  // This call counts for later calls only, because a call's own slot is not a reason for it to wait.
  enterUnderWay(deps, parsed);
  const advise = adviceFor(call);
  const key = reserveKey(deps, identified, { advise, defaultConcurrency: limits.keyDefault }, keyHold);
  const credit = reserveCredit(deps, identified, held(takesCreditSlot), advise);
  const tokens = reserveTokens(deps, call);
  const rest = [routed && reserveBudgets(deps, routed, owner), capacity, routed && reserveCandidate(deps, routed)];
  return inRounds([
    ...(tokens === undefined ? [] : [tokens]),
    { reservations: [key], mayRefuse: mayKeyRefuse },
    { reservations: [credit], mayRefuse: mayCreditRefuse },
    { reservations: rest, mayRefuse: false },
  ]);
}

/**
 * Splits reservations into rounds. The groups after a group that is likely to refuse the call run in a later round,
 * because an amount that a refused call takes and releases is not available to other calls meanwhile. Usually no group
 * is likely to refuse, and there is one round.
 */
function inRounds(groups: readonly ReservationGroup[]): Reservation[][] {
  const rounds: Reservation[][] = [];
  let round: Reservation[] = [];
  for (const { reservations, mayRefuse } of groups) {
    for (const reservation of reservations) if (reservation !== undefined) round.push(reservation);
    if (!mayRefuse || round.length === 0) continue;
    rounds.push(round);
    round = [];
  }
  if (round.length > 0) rounds.push(round);
  return rounds;
}

/**
 * Reserves for a call that cannot be planned. The request is counted, and an answer or a running call under the same
 * names is found.
 */
export function reservationsOfRefused(deps: GatewayDependencies, call: IdentifiedCall, owner: string): Reservation[] {
  const policy = tighten(call.parsed.clientBody.request.provider.policy, call.workspace.data_policy);
  const key = reserveKey(deps, call, { advise: noAdvice });
  return [key, ...reserveNames(deps, call, { owner, policy })].filter((one) => one !== undefined);
}

const reserveNames = (deps: GatewayDependencies, call: IdentifiedCall, names: NamesReservation) => [
  reserveIdempotencyKey(deps, call, names),
  reserveSpan(deps, call, names.owner),
];

/**
 * Returns the highest cost among the candidates that the workspace's credit pays. 0 means that the call cannot cost the
 * workspace anything.
 */
function holdAmountOf(call: PlannedCall): PicoUsd {
  if ('execution' in call) return call.execution.worstCase;
  return worstCaseCost(paidByWorkspace(call), call.effective.size);
}

const paidByWorkspace = ({ effective, terms }: RoutedCall) =>
  effective.plan.filter((candidate) => payerOf(terms.byok, candidate) === 'workspace');

/** Returns no advice for a function call. The function's revision fixes the request, so the caller cannot bound it. */
function adviceFor(call: PlannedCall): Advise {
  const member = call.effective.request.outputBoundMember;
  if ('execution' in call || member === undefined) return noAdvice;
  const { size } = call.effective;
  return (available) => boundAdvice({ candidates: paidByWorkspace(call), size, member })(available);
}

// Admits the first candidate along with everything else, so that a call within its provider's limits needs no further
// round. A candidate without a free slot does not refuse the call, because the provider loop queues for a slot.

const reserveCandidate = (deps: GatewayDependencies, call: RoutedCall): Reservation => ({
  rank: 'candidate',
  reserve: () => admitFirst(deps, call),
  // If the response to a write is lost, the counts that it took expire with their window.
});

function admitFirst({ limiter, clock }: GatewayDependencies, call: RoutedCall): Promise<ReservationResult> {
  const { identified, effective, terms } = call;
  const [candidate] = effective.plan;
  const startedAtMs = clock.nowMs();
  if (terms.byok?.sourceOf(candidate) !== undefined) {
    return Promise.resolve({ reservations: { firstCandidate: { candidate, permit: undefined, startedAtMs } } });
  }
  return askLimits(limiter, candidate, identified.parsed, effective).then((admission) => {
    if (admission.kind === 'limited') return {};
    const { permit } = admission;
    return {
      reservations: { firstCandidate: { candidate, permit, startedAtMs } },
      release: () => limiter.release(permit),
    };
  });
}

// Reserves in the workspace. The credit and the spend limit of the workspace must cover the worst case, and the
// workspace needs a slot for the call.
function reserveCredit(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  hold: Hold | undefined,
  advise: Advise,
): Reservation | undefined {
  if (hold === undefined) return undefined;
  const { workspace } = call;
  const { isFunctionCall } = call.parsed;
  const { credit, recentRefusals } = deps;
  const { concurrency = null } = workspace;
  const spendLimit = workspace.spend_limit_usd === null ? null : (parseUsd(workspace.spend_limit_usd) ?? 0n);
  const account: CreditAccount = { workspace: workspace.id, spendLimit, shards: workspace.credit_shards, concurrency };
  const refuse = (short: 'credit' | 'spend_limit', shortage: Omit<Shortage, 'advise'>): ReservationResult => {
    recentRefusals.set(account.workspace, true);
    const what = short === 'credit' ? 'credit' : 'the spend limit of the workspace';
    const message = insufficientMessage(what, { ...shortage, advise });
    return refusalResult('money', fail('PAYMENT_REQUIRED', { message }));
  };
  function toReserved(take: CreditTake): ReservationResult {
    if (take.kind === 'insufficient') return refuse(take.short, take);
    if (take.kind === 'no_slot') {
      recentRefusals.set(account.workspace, true);
      return refusalResult(
        'capacity',
        concurrencyError(`The workspace ${workspace.id}`, concurrency ?? 0, { isFunctionCall }),
      );
    }
    const creditHold = take.hold;
    return { reservations: { creditHold }, release: () => credit.release(creditHold) };
  }
  async function check(): Promise<ReservationResult> {
    const { available, underSpendLimit } = await credit.show(account);
    const needed = hold?.amount ?? 0n;
    if (available < needed) return refuse('credit', { needed, available });
    if (underSpendLimit === null || underSpendLimit >= needed) return {};
    return refuse('spend_limit', { needed, available: underSpendLimit });
  }
  const reserve = () => credit.take(account, hold).then(toReserved);
  return { rank: 'money', reserve, check };
}

// Reserves tokens per minute of the key and of its workspace. The call's estimate is counted before a provider is
// called, and corrected to the real use when the call ends.

/** Returns undefined if neither the key nor the workspace has a limit of tokens, or if the call takes no tokens. */
function reserveTokens(deps: GatewayDependencies, call: PlannedCall): ReservationGroup | undefined {
  const { limiter, recentRefusals } = deps;
  const owners = limitedOwners(call.identified);
  if (owners.length === 0 || countsOnly(call.identified.parsed.clientInterface.id)) return undefined;
  const tokens = 'execution' in call ? call.execution.estimatedTokens : mostTokens(call.effective);
  const permits: Permit[] = [];
  const release = () => Promise.all(permits.map((permit) => limiter.release(permit)));
  // The key comes first. A call that the key refuses then takes no tokens that other calls of the workspace could use.
  async function reserve(): Promise<ReservationResult> {
    for (const { owner, tpm, refuse } of owners) {
      const admission = await limiter.admit({ owner }, { rpm: null, tpm, tpd: null }, { tokens, requests: 1 });
      if (admission.kind === 'limited') {
        recentRefusals.set(owner, true);
        return { ...refusalResult('capacity', refuse(Math.ceil(admission.retryAfterMs / 1_000))), release };
      }
      permits.push(admission.permit);
    }
    return { reservations: { tokenPermits: permits }, release };
  }
  return {
    reservations: [{ rank: 'capacity', reserve, releaseUncertain: release }],
    mayRefuse: owners.some(({ owner }) => recentRefusals.has(owner)),
  };
}

interface LimitedOwner {
  /** Owner of the counter. A key that was rotated keeps the counter of its predecessor. */
  readonly owner: string;
  readonly tpm: number;
  readonly refuse: (retryAfterSeconds: number) => GatewayError;
}

function limitedOwners({ key, workspace }: IdentifiedCall): readonly LimitedOwner[] {
  const keyLimit = readKeySetting(key, 'tpm');
  const workspaceLimit = workspace.tpm ?? null;
  return [
    ...(keyLimit === null ? [] : [limitedOwner(`key#${key.pk}`, keyLimit, 'api_key_rate_limit', 'The key')]),
    ...(workspaceLimit === null
      ? []
      : [limitedOwner(`workspace#${workspace.id}`, workspaceLimit, 'rate_limited', `The workspace ${workspace.id}`)]),
  ];
}

const limitedOwner = (
  owner: string,
  tpm: number,
  code: 'api_key_rate_limit' | 'rate_limited',
  whose: string,
): LimitedOwner => ({
  owner,
  tpm,
  refuse: (retryAfterSeconds) =>
    fail(code, {
      retryAfterSeconds,
      message: `${whose} may use ${tpm} tokens a minute, its tpm, and what is left does not cover this call; try again in ${retryAfterSeconds} s.`,
    }),
});

// Reserves slots in items of their own. Every call takes a slot of the service. A function call also takes a slot of
// the workspace's function_concurrency and a slot for function calls of the service. A slot is a reservation of amount
// 1, so the slot of a dead instance expires. Slots are released before the client knows that the call has ended,
// because the client's next call must find free slots.

interface RoundInputs {
  readonly holder: Pick<Hold, 'owner' | 'expiresAtMs'>;
  readonly limits: ConcurrencyLimits;
  /** True if the slots of the workspace are not part of its credit's item. */
  readonly isCreditSharded: boolean;
}

/** Returns undefined if nothing limits the call. */
function reserveCapacity(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  { holder, ...inputs }: RoundInputs,
): Reservation | undefined {
  const { slotPools } = deps;
  const { keylessLimits } = inputs.limits;
  if (keylessLimits !== undefined) return reserveKeyless(deps, call, { holder, limits: keylessLimits });
  const levels = levelsOf(call, inputs);
  if (levels.length === 0) return undefined;
  const { slots, add, release } = createPoolSlots(slotPools);
  async function reserve(): Promise<ReservationResult> {
    // The levels are reserved one after the other, because two calls that took one level each would both be refused.
    for (const { pools, error } of levels) {
      if (!(await takeOne(pools))) return { ...refusalResult('capacity', error()), release };
    }
    return { release, reservations: { slots } };
  }
  async function takeOne(pools: readonly SlotPool[]): Promise<boolean> {
    for (const pool of pools) if (add(await slotPools.take(pool, holder))) return true;
    return false;
  }
  return { rank: 'capacity', reserve, releaseUncertain: release };
}

interface Level {
  /** The call takes a slot of one of these pools. */
  readonly pools: readonly SlotPool[];
  /** Returns the error for pools without a free slot. */
  readonly error: () => GatewayError;
}

function levelsOf(call: IdentifiedCall, { limits, isCreditSharded }: Omit<RoundInputs, 'holder'>): readonly Level[] {
  const { parsed, workspace, catalogue } = call;
  const { isFunctionCall } = parsed;
  const whose = `The workspace ${workspace.id}`;
  const functionLevel = (owner: SlotOwner, key: string, slots: number | null): Level[] =>
    slots === null || !isFunctionCall ? [] : [{ pools: [{ key, slots }], error: () => functionsError(owner, slots) }];
  const workspaceSlots = isCreditSharded ? limits.workspace : null;
  const { function_concurrency: functionConcurrency } = catalogue.service;
  return [
    ...functionLevel({ whose }, `SLOTS#${workspace.id}`, workspace.function_concurrency),
    ...(workspaceSlots === null
      ? []
      : [
          {
            pools: [{ key: `CALLS#${workspace.id}`, slots: workspaceSlots }],
            error: () => concurrencyError(whose, workspaceSlots, { isFunctionCall }),
          },
        ]),
    ...functionLevel({ whose: 'The gateway', exhausted: 'service_function_concurrency' }, 'SLOTS', functionConcurrency),
    ...(limits.servicePools.length === 0
      ? []
      : [{ pools: limits.servicePools, error: () => serviceError(limits, parsed) }]),
  ];
}

interface SlotOwner {
  /** Names the owner of the limit in the message. */
  readonly whose: string;
  /** The resource that the whole stage has too little of. Set for limits of the service. */
  readonly exhausted?: StageResource;
}

const functionsError = ({ whose, exhausted }: SlotOwner, limit: number): GatewayError =>
  fail('execution_capacity', {
    retryAfterSeconds,
    ...(exhausted === undefined ? {} : { exhausted }),
    message: `${whose} may run ${limit} functions at once, its function_concurrency, and so many are running; try again in ${retryAfterSeconds} s.`,
  });
