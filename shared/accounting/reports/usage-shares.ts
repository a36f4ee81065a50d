// Divides one call record among the groups of a report. Usually a record counts in one group. By model and by provider
// it counts in one group for each model or provider that took part in the call.
import type { PicoUsd } from '../../foundation/money/index.ts';
import { tagNameShape, tagOf } from '../../protocol/wire/index.ts';
import { type CallAttempt, type CallRecord, type CallShare, classOf, utcDayOf } from '../call-records/index.ts';

export const usageGroupings = ['model', 'provider', 'key', 'day', 'workspace', 'user', 'title', 'function'] as const;
type NamedGrouping = (typeof usageGroupings)[number];
/** Groups by the value of a tag: `tag:team`. */
type TagGrouping = `tag:${string}`;
export type UsageGrouping = NamedGrouping | TagGrouping;

const tagPrefix = 'tag:';

export const isTagGrouping = (by: string): by is TagGrouping =>
  by.startsWith(tagPrefix) && tagNameShape.test(by.slice(tagPrefix.length));

/** Fields of a record that every share needs. */
export const countedMembers = [
  ...([
    'workspace',
    'arrivedAtMs',
    'keyPublicId',
    'outcome',
    'cutCode',
    'modelServed',
    'modelAsked',
    'provider',
  ] as const),
  ...([
    'attempts',
    'attemptCauses',
    'attemptLog',
    'otherShares',
    'cacheHit',
    'replayOf',
    'isByok',
    'estimated',
  ] as const),
  ...(['promptTokens', 'cachedTokens', 'completionTokens', 'costPicoUsd', 'totalMs', 'firstOutputMs'] as const),
] as const;

/** Record with the fields that groups by tags, user, title or function need too. */
export type CountedCall = Pick<CallRecord, (typeof countedMembers)[number]> &
  Partial<Pick<CallRecord, 'tags' | 'user' | 'title' | 'functionId'>>;

export interface UsageShare {
  /**
   * Group of the share. By model: a model that answered, else the requested model; null if the call was refused before
   * any model was called. By key: its public id. By day: the arrival, in UTC. By provider: null if no provider
   * answered. By function, user, title, tag: null if the call has no such value. By model and provider, attempts count
   * for the called model or provider, and everything else counts for the model or provider that answered.
   */
  readonly group: string | null;
  readonly calls: number;
  /** Number of calls with the outcome `ok`. */
  readonly okCalls: number;
  /** Calls that the gateway or its providers failed. */
  readonly failedCalls: number;
  /** Calls that were refused to their clients. */
  readonly refusedCalls: number;
  readonly cacheHits: number;
  /** Calls whose tokens are partly an estimate. */
  readonly estimatedCalls: number;
  readonly attempts: number;
  readonly failedAttempts: number;
  readonly promptTokens: number;
  /** Part of promptTokens. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly costPicoUsd: PicoUsd;
  /** The part of costPicoUsd that the callers' own provider keys paid, not their credit. */
  readonly byokCostPicoUsd: PicoUsd;
  /** Duration of a call with a complete answer, until its end. By provider, of each of these attempts. */
  readonly latenciesMs: readonly number[];
  /** Time from arrival to first output, of a call with a complete answer. */
  readonly firstOutputMs: number | undefined;
}

const groupOf: Readonly<Record<NamedGrouping, (record: CountedCall) => string | null>> = {
  model: (record) => record.modelServed ?? (isRefused(record) ? null : (record.modelAsked ?? null)),
  provider: ({ provider }) => provider ?? null,
  key: ({ keyPublicId }) => keyPublicId,
  function: ({ functionId }) => functionId ?? null,
  day: ({ arrivedAtMs }) => utcDayOf(arrivedAtMs),
  workspace: ({ workspace }) => workspace,
  user: ({ user }) => user ?? null,
  title: ({ title }) => title ?? null,
};

/** True if no provider was called for the call. Its model may be in no catalogue. */
const isRefused = ({ outcome, attempts }: CountedCall): boolean =>
  attempts === 0 && outcome !== 'ok' && outcome !== 'client_gone';

export function sharesOf(record: CountedCall, by: UsageGrouping): UsageShare[] {
  const group = isTagGrouping(by) ? (tagOf(record.tags, by.slice(tagPrefix.length)) ?? null) : groupOf[by](record);
  const share = shareOf(record, group);
  return by === 'model' || by === 'provider' ? splitShare(record, share, by) : [share];
}

/** Returns the whole call as one share. */
export function shareOf(record: CountedCall, group: string | null): UsageShare {
  // A stored answer says nothing about the speed of answers.
  const isAnswered = record.outcome === 'ok' && !record.cacheHit && record.replayOf === undefined;
  return {
    group,
    calls: 1,
    okCalls: record.outcome === 'ok' ? 1 : 0,
    failedCalls: classOf(record) === 'failed' ? 1 : 0,
    refusedCalls: classOf(record) === 'refused' ? 1 : 0,
    cacheHits: record.cacheHit ? 1 : 0,
    estimatedCalls: record.estimated ? 1 : 0,
    attempts: record.attempts,
    failedAttempts: record.attemptCauses.length,
    promptTokens: record.promptTokens,
    cachedTokens: record.cachedTokens,
    completionTokens: record.completionTokens,
    costPicoUsd: record.costPicoUsd,
    byokCostPicoUsd: record.isByok ? record.costPicoUsd : 0n,
    latenciesMs: isAnswered ? [record.totalMs] : [],
    firstOutputMs: isAnswered ? record.firstOutputMs : undefined,
  };
}

function splitShare(record: CountedCall, whole: UsageShare, by: 'model' | 'provider'): UsageShare[] {
  const { attemptLog, otherShares = [] } = record;
  if (attemptLog === undefined) return [whole];
  const groupOfAttempt = (attempt: CallAttempt) =>
    by === 'provider' ? attempt.provider : (attempt.model ?? whole.group);
  // A call without an answer has only tokens of answers that were not a result.
  const hasOwn = record.modelServed !== undefined || otherShares.length === 0;
  const groups = new Set([
    ...(hasOwn ? [whole.group] : []),
    ...otherShares.map((share) => share[by]),
    ...attemptLog.map(groupOfAttempt),
  ]);
  return [...groups].map((group) => {
    const isOwn = hasOwn && group === whole.group;
    const others = otherShares.filter((share) => share[by] === group);
    const base = isOwn || others.length > 0 ? whole : nothingOf(whole);
    const attempts = attemptLog.filter((attempt) => groupOfAttempt(attempt) === group);
    const failedAttempts = attempts.filter(({ outcome }) => outcome !== 'ok');
    const successful = attempts.filter(({ outcome }) => outcome === 'ok');
    return {
      ...base,
      ...amountsOf(isOwn ? lessOthers(whole, otherShares) : noAmounts, others, record.isByok),
      group,
      attempts: attempts.length,
      failedAttempts: failedAttempts.length,
      latenciesMs: by === 'provider' ? successful.map(({ ms }) => ms) : base.latenciesMs,
    };
  });
}

type Amounts = Pick<CallShare, 'promptTokens' | 'cachedTokens' | 'completionTokens' | 'costPicoUsd'>;

const noAmounts: Amounts = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, costPicoUsd: 0n };

const lessOthers = (whole: Amounts, others: readonly Amounts[]): Amounts => others.reduce(combine(-1), whole);

function amountsOf(amounts: Amounts, others: readonly Amounts[], isByok: boolean) {
  const sum = others.reduce(combine(1), amounts);
  const { promptTokens, cachedTokens, completionTokens, costPicoUsd } = sum;
  const byokCostPicoUsd = isByok ? costPicoUsd : 0n;
  return { promptTokens, cachedTokens, completionTokens, costPicoUsd, byokCostPicoUsd };
}

const combine =
  (sign: 1 | -1) =>
  (sum: Amounts, part: Amounts): Amounts => ({
    promptTokens: sum.promptTokens + sign * part.promptTokens,
    cachedTokens: sum.cachedTokens + sign * part.cachedTokens,
    completionTokens: sum.completionTokens + sign * part.completionTokens,
    costPicoUsd: sum.costPicoUsd + BigInt(sign) * part.costPicoUsd,
  });

const nothingOf = (share: UsageShare): UsageShare => ({
  ...share,
  calls: 0,
  okCalls: 0,
  failedCalls: 0,
  refusedCalls: 0,
  cacheHits: 0,
  estimatedCalls: 0,
  latenciesMs: [],
  firstOutputMs: undefined,
});
