// The reservations of a call, in one round or more.
import type { GuardrailDocument } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { countsOnly } from '../../../shared/foundation/constants/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import { worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import { askLimits } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, IdentifiedCall, OpenedCall, RoutedCall } from '../stages.ts';
import { reserveIdempotencyKey, reserveSpan } from './call-names.ts';
import { concurrencyLimitsOf, enterUnderWay, isNearConcurrency } from './concurrency.ts';
import { findCached } from './find-cached.ts';
import { type Advise, boundAdvice, noAdvice } from './money-message.ts';
import {
  type Reservation,
  type ReservationGroup,
  type ReservationResult,
  type Rounds,
  refused,
} from './reservation.ts';
import { reserveBudgets } from './reserve-budgets.ts';
import { reserveCapacity } from './reserve-capacity.ts';
import { reserveCredit } from './reserve-credit.ts';
import { isShortOf, reserveKey } from './reserve-key.ts';
import { reserveTokens } from './reserve-tokens.ts';

export type PlannedCall = RoutedCall | OpenedCall;

interface Reserving extends Pick<AdmittedCall, 'owner' | 'claims'> {
  /** Undefined for a call without guardrails. */
  readonly guarded: { readonly guardrails: readonly GuardrailDocument[]; readonly checkInput: CheckInput } | undefined;
}

/** Runs before anything is held. Returns the call, with masked texts where there are some. */
type CheckInput = () => Promise<PlannedCall | GatewayError>;

export function reservationsOf(
  deps: GatewayDependencies,
  call: PlannedCall,
  { owner, claims, guarded }: Reserving,
): Rounds {
  const cached =
    'plan' in call ? findCached(deps, call, { owner, claims, guardrails: guarded?.guardrails }) : undefined;
  const names = [...reserveNames(deps, call, owner), cached].filter((one) => one !== undefined);
  // An answer stored under them may be the result.
  const first = names.length === 0 ? [] : [names];
  if (guarded === undefined) return [...first, ...holdRounds(deps, call, owner)];
  const checked = [reserveKey(deps, keyOf(call, noAdvice))];
  const make = async () => {
    const passed = await guarded.checkInput();
    if (!(passed instanceof GatewayError)) return holdRounds(deps, passed, owner);
    const reserve = async () => refused('guardrail', passed);
    return [[{ rank: 'guardrail' as const, reserve }], checked];
  };
  return [...first, { checked, make }];
}

/** All that the call takes until its end. */
function holdRounds(deps: GatewayDependencies, call: PlannedCall, owner: string): Reservation[][] {
  const routed = 'plan' in call ? call : undefined;
  const limits = concurrencyLimitsOf(deps, call);
  const isCountOnly = countsOnly(call.clientInterface.id);
  const amount = holdAmountOf(call);
  const holder = { owner, expiresAtMs: call.leaseUntilMs };
  const held = (slot: boolean) => (amount === 0n && !slot ? undefined : { ...holder, amount, slot });
  const keyHold = held(!isCountOnly);
  // Where its credit is spread over shards, a workspace has its slots apart from it.
  const isCreditSharded = (call.workspace.credit_shards ?? 1) > 1;
  const takesCreditSlot = limits.workspace !== null && !isCreditSharded;
  const capacity = reserveCapacity(deps, call, { holder, limits, isCreditSharded });
  const { recentRefusals, clock } = deps;
  const mayKeyRefuse =
    recentRefusals.has(call.credential.publicId) ||
    isShortOf(amount, call.key, clock.nowMs()) ||
    isNearConcurrency(deps, limits, call);
  const mayCreditRefuse = recentRefusals.has(call.workspace.id) || (takesCreditSlot && capacity !== undefined);
  // From the next call on: its own slot is no reason to wait.
  enterUnderWay(deps, call);
  const advise = adviceFor(call);
  const { keyDefault: defaultConcurrency } = limits;
  const key = { ...keyOf(call, advise), defaultConcurrency };
  const credit = reserveCredit(deps, call, held(takesCreditSlot), advise);
  const tokens = reserveTokens(deps, call);
  const rest = [routed && reserveBudgets(deps, routed, owner), capacity, routed && reserveCandidate(deps, routed)];
  return inRounds([
    ...(tokens === undefined ? [] : [tokens]),
    { reservations: [reserveKey(deps, key, keyHold)], mayRefuse: mayKeyRefuse },
    { reservations: [credit], mayRefuse: mayCreditRefuse },
    { reservations: rest, mayRefuse: false },
  ]);
}

/**
 * Splits reservations into rounds. An amount that a call takes and releases again is missing to others meanwhile, so a
 * reservation after one that may well refuse the call waits for its answer. Usually none may, and all is one round.
 */
function inRounds(groups: readonly ReservationGroup[]): Reservation[][] {
  const rounds: Reservation[][] = [[]];
  for (const { reservations, mayRefuse } of groups) {
    rounds.at(-1)?.push(...reservations.filter((one) => one !== undefined));
    if (mayRefuse) rounds.push([]);
  }
  return rounds.filter((round) => round.length > 0);
}

/** Of a call that cannot be planned: its request is counted, and what is stored or in use under its names is found. */
export const reservationsOfRefused = (deps: GatewayDependencies, call: IdentifiedCall, owner: string): Reservation[] =>
  [reserveKey(deps, keyOf(call, noAdvice)), ...reserveNames(deps, call, owner)].filter((one) => one !== undefined);

const keyOf = ({ credential, key, asksFunction }: IdentifiedCall, advise: Advise) => ({
  credential,
  key,
  asksFunction,
  advise,
});

const reserveNames = (deps: GatewayDependencies, call: IdentifiedCall, owner: string) => [
  reserveIdempotencyKey(deps, call, owner),
  reserveSpan(deps, call, owner),
];

/** The worst case of the candidates that the workspace's credit pays. 0: the call cannot cost it anything. */
function holdAmountOf(call: PlannedCall): PicoUsd {
  if (!('plan' in call)) return call.execution.worstCase;
  return worstCaseCost(paidByWorkspace(call), call.size);
}

const paidByWorkspace = ({ plan, byok }: RoutedCall) =>
  plan.filter((candidate) => payerOf(byok, candidate) === 'workspace');

/** The request of a function is fixed by its revision: its caller could not bound it. */
function adviceFor(call: PlannedCall): Advise {
  const member = call.request.outputBoundMember;
  if (!('plan' in call) || member === undefined) return noAdvice;
  return (available) => boundAdvice({ candidates: paidByWorkspace(call), size: call.size, member })(available);
}

// Admits the first candidate along with everything else, so that a call within its provider's limits needs no round of
// its own. A candidate without a free slot is no refusal: the provider loop queues for one.

const reserveCandidate = (deps: GatewayDependencies, call: RoutedCall): Reservation => ({
  rank: 'candidate',
  reserve: () => admitFirst(deps, call),
  // Counts taken without an answer expire with their window.
});

async function admitFirst({ limiter, clock }: GatewayDependencies, call: RoutedCall): Promise<ReservationResult> {
  const { plan, byok } = call;
  const [candidate] = plan;
  const startedAtMs = clock.nowMs();
  if (byok?.sourceOf(candidate) !== undefined) {
    return { holdings: { firstCandidate: { candidate, permit: undefined, startedAtMs } } };
  }
  const admission = await askLimits(limiter, candidate, call);
  if (admission.kind === 'limited') return {};
  const { permit } = admission;
  return {
    holdings: { firstCandidate: { candidate, permit, startedAtMs } },
    release: () => limiter.release(permit),
  };
}
