// Prints calls as they are found: all that match a filter as CSV, or those that end from now on.
import {
  type CallDocument,
  type CallRecord,
  callDocument,
  csvHeader,
  csvLine,
  describePath,
} from '../../../shared/accounting/call-records/index.ts';
import { type CallPageQuery, findCalls, readCallPage } from '../../../shared/accounting/reports/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';

type Query = Pick<CallPageQuery, 'records' | 'workspaces' | 'matches'>;

const pageCalls = 1_000;

/** The newest first. */
export async function* csvLines(
  query: Query & Pick<CallPageQuery, 'sinceMs' | 'nowMs'>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  yield csvHeader;
  let [before, remaining] = [undefined as string | undefined, limit];
  do {
    const { calls, next } = await readCallPage({ ...query, before, limit: Math.min(pageCalls, remaining) });
    yield* calls.map(csvLine);
    remaining -= calls.length;
    before = next;
  } while (before !== undefined && remaining > 0);
}

const pollMs = 2_000;
/** A record is written when its call has ended, under the time at which it began: streams run this long at the most. */
const longestCallMs = 15 * 60_000;
/** More new calls than this are printed when they are no longer the newest. */
const newMax = 1_000;

/** The last `shown` first, then each as it ends: the newest at the end. Goes on until the process is stopped. */
export async function* newCalls(query: Query, clock: Clock, shown: number): AsyncGenerator<CallRecord> {
  const arrivalById = new Map<string, number>();
  const startedAtMs = clock.nowMs();
  for (let isFirst = true; ; isFirst = false) {
    const nowMs = clock.nowMs();
    const sinceMs = nowMs - longestCallMs;
    const calls = await findCalls({ ...query, sinceMs, beforeMs: nowMs + 1, limit: newMax });
    const fresh = calls.filter(({ executionId }) => !arrivalById.has(executionId)).reverse();
    for (const { executionId, arrivedAtMs } of fresh) arrivalById.set(executionId, arrivedAtMs);
    for (const [id, arrivedAtMs] of arrivalById) if (arrivedAtMs < sinceMs) arrivalById.delete(id);
    yield* isFirst ? fresh.slice(-shown) : fresh.filter((call) => call.arrivedAtMs + call.totalMs >= startedAtMs);
    await new Promise<void>((resolve) => clock.after(pollMs, resolve));
  }
}

/** `cut CODE` of a stream that broke, and which guardrail blocked the request or the answer. */
export function outcomeText({ outcome, error_code, blocked_by }: CallDocument): string {
  const text = outcome === 'cut' && error_code !== null ? `cut ${error_code}` : outcome;
  return blocked_by === null ? text : `${text} (guardrail ${blocked_by})`;
}

/** With its workspace: keys of several workspaces may have one name. */
export const keyText = ({ workspace, key_name, key_public_id }: CallDocument): string =>
  `${workspace}/${key_name ?? key_public_id}`;

/** Its columns have fixed widths, because later calls are unknown. */
export function followLine(call: CallRecord): string {
  const document = callDocument(call);
  const { created_at, model, model_asked, total_ms, cost_usd, id } = document;
  return [
    created_at.slice(0, 19).replace('T', ' '),
    outcomeText(document).padEnd(12),
    (model ?? model_asked ?? '-').padEnd(24),
    (describePath(call) ?? '-').padEnd(24),
    `${total_ms} ms`.padStart(9),
    cost_usd.padEnd(12),
    keyText(document).padEnd(10),
    id,
  ].join('  ');
}
