import type { CallRecord } from '../../shared/accounting/call-records/index.ts';
import type { Composition } from '../../shared/composition/index.ts';

const dayMs = 86_400_000;

/**
 * Returns the records of the current day and the days around it, because a test may run at midnight, or on a clock that
 * it moved. They are sorted by time, and within one millisecond in the order of `answeredIds`, because their own ids
 * have no order.
 */
export async function readRecords(
  { records, clock }: Pick<Composition, 'records' | 'clock'>,
  workspace: string,
  answeredIds: readonly string[] = [],
): Promise<CallRecord[]> {
  const found: CallRecord[] = [];
  for (const days of [-1, 0, 1]) {
    const day = new Date(clock.nowMs() + days * dayMs).toISOString().slice(0, 10);
    for await (const record of records.read(workspace, day)) found.push(record);
  }
  const orderOf = new Map(answeredIds.map((id, order) => [id, order]));
  const order = ({ correlationId }: CallRecord) => orderOf.get(correlationId) ?? -1;
  return found.toSorted((a, b) => a.arrivedAtMs - b.arrivedAtMs || order(a) - order(b));
}
