// Days of UTC as texts such as "2026-11-20", which sort in their order.
import { dayMs } from '../../foundation/time/index.ts';

const dayLength = 'YYYY-MM-DD'.length;

/** Day of an ISO 8601 time in UTC. */
export const dayIn = (time: string): string => time.slice(0, dayLength);

/** Throws a RangeError for an invalid time. */
export const utcDayOf = (epochMs: number): string => dayIn(new Date(epochMs).toISOString());

/** Whether the text is a day that exists: "2026-02-30" is none. */
export function isUtcDay(day: string): boolean {
  const epochMs = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(epochMs) && utcDayOf(epochMs) === day;
}

/** Every day of UTC from one instant to the other, both included. */
export function utcDaysBetween(sinceMs: number, untilMs: number): string[] {
  const first = Date.parse(`${utcDayOf(sinceMs)}T00:00:00Z`);
  const count = Math.floor((untilMs - first) / dayMs) + 1;
  return Array.from({ length: count }, (_none, index) => utcDayOf(first + index * dayMs));
}
