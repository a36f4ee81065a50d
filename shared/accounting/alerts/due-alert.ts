// Which alert is due, by what was seen and by the last mark. Pure.
import type { Item } from '../../storage/store/index.ts';
import { alertQuietMs, cooldownItem } from '../provider-health/index.ts';
import type { Alert } from './alert.ts';
import {
  type AlertMark,
  type MarkPlace,
  type ProviderMark,
  readShareMark,
  type ShareMark,
  triesMax,
} from './alert-mark.ts';
import type { EndedAttempt } from './alerts.ts';
import { passedShare, type WatchedSpending } from './watched-spending.ts';

export interface DueAlert {
  readonly place: MarkPlace;
  /** The mark that it follows. */
  readonly seen: AlertMark | undefined;
  readonly mark: AlertMark;
  readonly alert: Alert;
  /** The alert that is due where another process has written the item. */
  readonly behind: (item: Item) => DueAlert | undefined;
}

interface TryTime {
  readonly nowMs: number;
  /** When others may try again, should this process say nothing more of it. */
  readonly leaseMs: number;
  readonly newId: () => string;
}

export function dueShare(spending: WatchedSpending, at: readonly number[], time: TryTime): DueAlert | undefined {
  const { place, mark: seen, spent, limit, scope, from } = spending;
  const percent = passedShare(spending, at);
  const tryOfScope = seen?.scope === scope ? seen : undefined;
  const sinceBefore = from === undefined ? {} : { from };
  const mark =
    percent === undefined
      ? nextTry(tryOfScope, time)
      : { ...firstTry(time), scope, percent, spent, limit, ...sinceBefore };
  if (mark === undefined) return undefined;
  return {
    ...{ place, seen, mark, alert: shareAlert(spending, mark) },
    behind: (item) => dueShare({ ...spending, mark: readShareMark(item, place.attribute) }, at, time),
  };
}

/** Of the first try, where nothing was alerted yet. */
const firstTry = ({ nowMs, leaseMs, newId }: TryTime) => ({
  id: newId(),
  at_ms: nowMs,
  tries: 1,
  due_at_ms: nowMs + leaseMs,
});

/** Undefined where the alert was delivered or given up, or is not due yet. */
function nextTry<Mark extends AlertMark>(mark: Mark | undefined, { nowMs, leaseMs }: TryTime): Mark | undefined {
  const { tries = triesMax, due_at_ms: dueAtMs = 0 } = mark ?? {};
  if (mark === undefined || tries >= triesMax || dueAtMs > nowMs) return undefined;
  return { ...mark, tries: tries + 1, due_at_ms: nowMs + leaseMs };
}

const shareAlert = (
  { type, workspace, key, provider, period }: WatchedSpending,
  { id, at_ms, percent, spent, limit }: ShareMark,
): Alert => ({ type, id, atMs: at_ms, workspace, key, provider, share: { percent, spent, limit, period } });

/** `seen`: the mark of its account. */
export function dueProvider(
  attempt: EndedAttempt,
  seen: ProviderMark | undefined,
  time: TryTime,
): DueAlert | undefined {
  const { account, model } = attempt;
  const state = nextState(attempt, seen, time.nowMs);
  const mark = state === undefined ? nextTry(seen, time) : { ...firstTry(time), state, model };
  if (mark === undefined) return undefined;
  const { table, key, markPrefix, lifeSeconds } = cooldownItem;
  const place = { table, key, attribute: markPrefix + account, lifeSeconds };
  return {
    ...{ place, seen, mark, alert: providerAlert(attempt, mark) },
    behind: (item) => dueProvider(attempt, item[place.attribute] as ProviderMark | undefined, time),
  };
}

/**
 * Undefined where nothing is new. A provider is back when the model answers whose call failed: others may have
 * answered all the time.
 */
function nextState(
  { outcome, model, startedAtMs, coolsForAll }: EndedAttempt,
  seen: ProviderMark | undefined,
  nowMs: number,
): ProviderMark['state'] | undefined {
  const isWell = seen === undefined || (seen.state === 'back' && nowMs >= seen.at_ms + alertQuietMs);
  if (outcome === 'ok') {
    const isBack = seen !== undefined && seen.state !== 'back' && seen.model === model && startedAtMs > seen.at_ms;
    return isBack && !coolsForAll ? 'back' : undefined;
  }
  if (outcome === 'failed') return isWell && coolsForAll ? 'failing' : undefined;
  return isWell || seen?.state === 'failing' ? outcome : undefined;
}

const typeOf = {
  refused: 'provider_credential_refused',
  empty: 'provider_credential_empty',
  failing: 'provider_failing',
  back: 'provider_back',
} as const;

const providerAlert = ({ provider, credential }: EndedAttempt, { id, at_ms, state, model }: ProviderMark): Alert => ({
  type: typeOf[state],
  id,
  atMs: at_ms,
  provider,
  credential,
  model,
});
