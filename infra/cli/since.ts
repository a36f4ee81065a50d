// `--since`: a length of time back from now, or a day of UTC.
import { isUtcDay, utcDayOf } from '../../shared/accounting/call-records/index.ts';
import { UsageError } from './usage-error.ts';

const unitMs = { h: 3_600_000, d: 86_400_000 } as const;
const dayMs = unitMs.d;
/** Call records are kept 90 days; where an operator keeps them longer, a year is enough for one report. */
const daysMax = 366;

/** Epoch milliseconds. Throws UsageError for anything else than `7d`, `12h` or `2026-11-01`, and for more than a year. */
export function readSince(name: string, text: string, nowMs: number): number {
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(text) ?? [];
  const sinceMs = isUtcDay(text)
    ? Date.parse(`${text}T00:00:00Z`)
    : nowMs - Number(count ?? Number.NaN) * unitMs[(unit ?? 'd') as keyof typeof unitMs];
  if (Number.isNaN(sinceMs)) throw new UsageError(`${name} is a length of time or a day of UTC: 7d, 12h, 2026-11-01`);
  if (sinceMs > nowMs) throw new UsageError(`${name} lies in the future`);
  if (nowMs - sinceMs > daysMax * dayMs) throw new UsageError(`${name} is at most ${daysMax} days back`);
  return sinceMs;
}

/** Every day of UTC from one instant to the other, both included. */
export function utcDaysBetween(sinceMs: number, untilMs: number): string[] {
  const first = Date.parse(`${utcDayOf(sinceMs)}T00:00:00Z`);
  const count = Math.floor((untilMs - first) / dayMs) + 1;
  return Array.from({ length: count }, (_none, index) => utcDayOf(first + index * dayMs));
}
