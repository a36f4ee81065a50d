// Which alert is due, by what is spent and by the last mark. Pure.
import type { Alert } from './alert.ts';
import { type AlertMark, type MarkPlace, triesMax } from './alert-mark.ts';
import { passedShare, type WatchedSpending } from './watched-spending.ts';

export interface DueAlert {
  readonly place: MarkPlace;
  /** The mark that it follows. */
  readonly seen: AlertMark | undefined;
  readonly mark: AlertMark;
  readonly alert: Alert;
  /** The alert that is due behind another mark. */
  readonly behind: (seen: AlertMark | undefined) => DueAlert | undefined;
}

export interface TryTime {
  readonly nowMs: number;
  /** When others may try again, should this process say nothing more of it. */
  readonly leaseMs: number;
  readonly newId: () => string;
}

export function dueShare(spending: WatchedSpending, at: readonly number[], time: TryTime): DueAlert | undefined {
  const { place, mark: seen, spent, limit, scope, from } = spending;
  const { nowMs } = time;
  const due_at_ms = nowMs + time.leaseMs;
  const toDue = (mark: AlertMark): DueAlert => ({
    ...{ place, seen, mark, alert: shareAlert(spending, mark) },
    behind: (other) => dueShare({ ...spending, mark: other }, at, time),
  });
  const percent = passedShare(spending, at);
  if (percent !== undefined) {
    const sinceBefore = from === undefined ? {} : { from };
    return toDue({ id: time.newId(), at_ms: nowMs, tries: 1, due_at_ms, scope, percent, spent, limit, ...sinceBefore });
  }
  const { tries = triesMax, due_at_ms: dueAtMs = 0 } = seen?.scope === scope ? seen : {};
  if (seen === undefined || tries >= triesMax || dueAtMs > nowMs) return undefined;
  return toDue({ ...seen, tries: tries + 1, due_at_ms });
}

const shareAlert = (
  { type, workspace, key, provider, period }: WatchedSpending,
  { id, at_ms, percent, spent, limit }: AlertMark,
): Alert => ({ type, id, atMs: at_ms, workspace, key, provider, share: { percent, spent, limit, period } });
