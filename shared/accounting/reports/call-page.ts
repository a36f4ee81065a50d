// Reads one page of calls, the newest first, and the position of the next page. However many calls there are, and
// however few of them match, a page reads a bounded number of calls. The page may then have fewer calls than requested,
// and the next page continues.
import { type CallRecord, callPosition } from '../call-records/index.ts';
import { type CallRange, keepCalls, readNewestFirst } from './newest-first.ts';

/**
 * Approximate number of calls that one page reads: it stops with the window that reaches this number. The reads take
 * about a second.
 */
const pageCallsMax = 4_000;
const windowCallsMax = 2_000;
/** Number of calls of a window, for each call of a page. */
const windowCallsPerCall = 5;
/** Approximate number of days of workspaces that one page reads. */
const pageDaysMax = 400;
const windowDaysMax = 200;

export interface CallPageQuery extends Omit<CallRange, 'beforeMs'> {
  /** Position before which calls are listed; absent: from the newest on. */
  readonly before?: string | undefined;
  readonly nowMs: number;
  readonly limit: number;
  readonly matches: (record: CallRecord) => boolean;
}

interface CallPage {
  readonly calls: readonly CallRecord[];
  /** Position of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

const instantLength = '2026-11-20T00:00:00.000Z'.length;
const positionShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(#[A-Za-z0-9_-]{1,64})?$/;

/** True for a text that can be a `next`. */
export const isCallPosition = (text: string): boolean => positionShape.test(text) && !Number.isNaN(epochMsOf(text));

const epochMsOf = (position: string): number => Date.parse(position.slice(0, instantLength));

export async function readCallPage({ before, nowMs, limit, matches, ...range }: CallPageQuery): Promise<CallPage> {
  const calls: CallRecord[] = [];
  let [looked, days] = [0, 0];
  const beforeMs = (before === undefined ? nowMs : Math.min(nowMs, epochMsOf(before))) + 1;
  const bounds = { firstCallsMax: limit * windowCallsPerCall, callsMax: windowCallsMax, daysMax: windowDaysMax };
  for await (const window of readNewestFirst({ ...range, beforeMs }, keepCalls, bounds)) {
    const isAsked = (call: CallRecord) => (before === undefined || callPosition(call) < before) && matches(call);
    const found = window.keeper.calls.filter(isAsked);
    calls.push(...found.sort((a, b) => (callPosition(a) < callPosition(b) ? 1 : -1)));
    const last = calls.length > limit ? calls[limit - 1] : undefined;
    if (last !== undefined) return { calls: calls.slice(0, limit), next: callPosition(last) };
    looked += window.callsRead;
    days += window.daysRead;
    const isBounded = looked >= pageCallsMax || days >= pageDaysMax;
    if (isBounded && window.sinceMs > range.sinceMs) return { calls, next: new Date(window.sinceMs).toISOString() };
  }
  return { calls, next: undefined };
}
