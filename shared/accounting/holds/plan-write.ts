// What the next write to an item does for those who wait for it, and which of them is refused. Pure.
//
// What is true of a counter after every write, whichever process stops in between:
//   1. balance + held + spent = what was put in, where held is the sum of the buckets. Each write moves an amount from
//      one term to another, so a crash between two writes loses nothing and creates nothing.
//   2. A hold is taken only where limit + balance covers it in the same instant: no number of takers at once can hold
//      and spend more than the limit. Only real costs go beyond it: above the amount held, or late.
//   3. A settlement takes its amount out of its bucket. Where the bucket no longer has it the owner is late: the amount
//      was given back, and the cost is charged without cover, because the provider was really paid.
//   4. A bucket that is over is given back once: the write compares it with the amount that it gives back.
import type { Item } from '../../storage/store/index.ts';
import type { SeenItem } from './counter.ts';
import type { Answer, Demand, Refusal, Request } from './requests.ts';
import type { UpdateDraft } from './update-draft.ts';
import { WriteGroup } from './write-group.ts';

export interface Waiting<Reason> {
  readonly request: Request<Reason>;
  /** The item was asked for after the request came: what the item says may refuse it. */
  readonly isSeenAfter: boolean;
}

export interface WritePlan<Reason, Entry extends Waiting<Reason>> {
  readonly answered: readonly (readonly [Entry, Answer<Reason>])[];
  /** What is written for whom, and how each is answered when it is done. */
  readonly write:
    | {
        readonly draft: UpdateDraft;
        readonly entries: readonly Entry[];
        readonly answer: (entry: Entry, item: Item) => Answer<Reason>;
      }
    | undefined;
}

/**
 * Settlements and corrections always fit. Reservations go along in order of arrival, as far as they fit. One that does
 * not is refused only by an item that was asked for after it came, and by nothing else; it waits for the answer of this
 * write where it came later, then with all behind it, or where others of this write stand in its way. Neither answered
 * nor written: the item must be read first.
 */
export function planWrite<Reason, Entry extends Waiting<Reason>>(
  waiting: readonly Entry[],
  seen: SeenItem | undefined,
  nowMs: number,
): WritePlan<Reason, Entry> {
  const group = new WriteGroup(seen, nowMs);
  const answered: [Entry, Answer<Reason>][] = [];
  const entries: Entry[] = [];
  const late = new Set<Entry>();
  for (const entry of waiting) {
    const { request } = entry;
    if (request.kind === 'reserve') continue;
    const outcome = request.kind === 'correct' ? group.correct(request) : group.settle(request);
    if (outcome === 'late') late.add(entry);
    if (outcome === 'gone') answered.push([entry, { kind: 'gone' }]);
    else entries.push(entry);
  }
  const assessed = waiting.flatMap((entry) =>
    entry.request.kind === 'reserve' ? [{ entry, assessment: entry.request.assess(seen, nowMs) }] : [],
  );
  const counters = waiting.flatMap(({ request }) => (request.kind === 'settle' ? request.counter : []));
  const demands = assessed.flatMap(({ assessment }) => (isDemand(assessment) ? assessment : []));
  group.giveBackExpired([...counters, ...demands]);
  for (const { entry, assessment } of assessed) {
    const verdict = isDemand(assessment) ? group.judge(assessment, entries.length > 0) : assessment;
    if (verdict === 'fits') {
      entries.push(entry);
      continue;
    }
    if (verdict === 'wait') continue;
    if (verdict === 'look' || !(entry.isSeenAfter || ('isFinal' in verdict && verdict.isFinal))) break;
    const item = seen?.item ?? {};
    answered.push([entry, 'reason' in verdict ? { kind: 'refused', item, reason: verdict.reason } : verdict]);
  }
  if (entries.length === 0) return { answered, write: undefined };
  const answer = (entry: Entry, item: Item): Answer<Reason> =>
    entry.request.kind === 'reserve'
      ? { kind: 'reserved', item, atMs: nowMs }
      : { kind: 'settled', item, wasLate: late.has(entry) };
  return { answered, write: { draft: group.finish(), entries, answer } };
}

const isDemand = <Reason>(assessment: Demand | Refusal<Reason> | 'look'): assessment is Demand =>
  assessment !== 'look' && !('reason' in assessment);
