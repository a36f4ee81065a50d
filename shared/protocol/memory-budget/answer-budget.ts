// Divides the memory of answers, which is a third of the budget, and which no request takes. A short answer never
// waits. A longer answer waits in line, as long as its call may; the first in line may exceed the third, one at a time,
// so that answers which all wait for their next step come to an end. Answers that their clients do not read are ended
// in favour of waiting ones, the longest unread first.
import { fail, type GatewayError } from '../../errors/index.ts';
import { requestBudgetMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';

/** Size up to which an answer never waits. */
export const smallAnswerMaxBytes = 64 * 1024;

/** Time after which an answer counts as unread, because even a slow reader reads something within this time. */
const unreadMinMs = 500;
/** Time for which the first in line waits for the others. */
const beyondAfterMs = 1_000;
/** Longest wait, the time of a whole call, whose own end usually comes first. */
const waitMaxMs = requestBudgetMs;

/**
 * Part of an unread text below which the text counts as released. The text stays in memory until its last piece is
 * written, so counting each of its pieces would collect garbage again and again while nothing of it is free.
 */
const restMaxShare = 1 / 16;

export interface AnswerTake {
  /** True if the call waits when there is no memory. */
  readonly mayWait: boolean;
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** The answers of one call. */
export interface AnswerHolder {
  /** Bytes that the call's answers have reserved. */
  allocatedBytes: number;
  /** Bytes of the answer that its client has not read, usually a part of the reserved bytes. */
  unreadBytes: number;
  /** The larger of the two numbers. Only this number counts. */
  bytes: number;
  /** The most that `bytes` was since bytes of this call were last counted as released. */
  peakBytes: number;
  /** Set once the call was ended in favour of other calls. Its bytes are released soon. */
  isEnding: boolean;
  /** Functions that each end a wait of this call. */
  leaves: Set<() => void> | undefined;
}

export const openAnswerHolder = (): AnswerHolder => ({
  allocatedBytes: 0,
  unreadBytes: 0,
  bytes: 0,
  peakBytes: 0,
  isEnding: false,
  leaves: undefined,
});

interface Waiting {
  readonly holder: AnswerHolder;
  readonly addedBytes: number;
  readonly letIn: () => void;
  /**
   * State of the call's turn to exceed the third: `begun` once the call is the first in line, `over` once it has been
   * that for long enough.
   */
  turn: 'none' | 'begun' | 'over';
}

interface Unread {
  readonly sinceMs: number;
  readonly end: () => void;
}

export class AnswerBudget {
  bytes = 0;
  readonly maxBytes: number;
  readonly #clock: Clock;
  readonly #released: (bytes: number) => void;
  readonly #line = new Set<Waiting>();
  readonly #unread = new Map<AnswerHolder, Unread>();
  #endingBytes = 0;
  /** The holder that may exceed the third. */
  #beyond: AnswerHolder | undefined;

  /** `released` is called with the number of bytes that a call has released, including unread bytes. */
  constructor(clock: Clock, maxBytes: number, released: (bytes: number) => void) {
    this.#clock = clock;
    this.maxBytes = maxBytes;
    this.#released = released;
  }

  /**
   * Reserves memory. Returns undefined if it is free at once. Rejects with RATE_LIMITER_UNAVAILABLE if the wait
   * ends without it.
   */
  take(holder: AnswerHolder, addedBytes: number, { mayWait, signal }: AnswerTake): Promise<void> | undefined {
    const isFirst = this.#line.size === 0;
    if (mayWait && !(isFirst && this.#fits(addedBytes)) && this.#beyond !== holder) {
      return this.#wait(holder, addedBytes, signal);
    }
    this.#add(holder, addedBytes);
    if (this.bytes > this.maxBytes) this.#endUnread(0, holder);
    return undefined;
  }

  giveBack(holder: AnswerHolder, bytes: number): void {
    this.#add(holder, -bytes);
    this.#countReleased(holder);
    this.#bytesAreFree(holder);
  }

  endWaits(holder: AnswerHolder): void {
    for (const leave of [...(holder.leaves ?? [])]) leave();
  }

  /** Releases everything except unread bytes. */
  releaseAll(holder: AnswerHolder): void {
    this.giveBack(holder, holder.allocatedBytes);
  }

  /** Counts unread bytes; called when the client stops reading. `end` ends the answer. */
  standStill(holder: AnswerHolder, unreadBytes: number, end: () => void): void {
    holder.unreadBytes = unreadBytes;
    this.#add(holder, 0);
    if (holder.bytes < holder.peakBytes * restMaxShare) this.#countReleased(holder);
    this.#unread.delete(holder);
    this.#unread.set(holder, { sinceMs: this.#clock.nowMs(), end });
    // A single answer may be longer than the whole budget.
    if (this.bytes > this.maxBytes) this.#endUnread(0, holder);
  }

  /** Called when the client reads again. Its memory is counted as released later, once much was read. */
  moveOn(holder: AnswerHolder): void {
    this.#unread.delete(holder);
    holder.unreadBytes = 0;
    this.#add(holder, 0);
    this.#bytesAreFree(holder);
  }

  endReading(holder: AnswerHolder): void {
    this.moveOn(holder);
    // The bytes of a reserved answer are released by its call.
    if (holder.allocatedBytes === 0) this.#countReleased(holder);
  }

  /** Returns the error for an answer whose wait has ended, or whose call has. */
  refusal(): GatewayError {
    return fail('RATE_LIMITER_UNAVAILABLE', { message: memoryFull, exhausted: 'process_memory' });
  }

  #bytesAreFree(holder: AnswerHolder): void {
    if (this.#beyond === holder && (holder.bytes === 0 || this.bytes <= this.maxBytes)) this.#beyond = undefined;
    this.#serve();
  }

  #countReleased(holder: AnswerHolder): void {
    this.#released(holder.peakBytes - holder.bytes);
    holder.peakBytes = holder.bytes;
  }

  #fits(addedBytes: number): boolean {
    return this.bytes + addedBytes <= this.maxBytes;
  }

  #add(holder: AnswerHolder, addedBytes: number): void {
    const formerBytes = holder.bytes;
    holder.allocatedBytes += addedBytes;
    holder.bytes = Math.max(holder.allocatedBytes, holder.unreadBytes);
    holder.peakBytes = Math.max(holder.peakBytes, holder.bytes);
    this.bytes += holder.bytes - formerBytes;
    if (holder.isEnding) this.#endingBytes += holder.bytes - formerBytes;
  }

  #wait(holder: AnswerHolder, addedBytes: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      if (!this.#line.delete(waiting)) return;
      reject(this.refusal());
      this.#serve();
    };
    const waiting: Waiting = { holder, addedBytes, letIn: resolve, turn: 'none' };
    this.#line.add(waiting);
    holder.leaves ??= new Set();
    holder.leaves.add(leave);
    const cancel = this.#clock.after(waitMaxMs, leave);
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
    this.#endUnread(unreadMinMs);
    // By then every answer that is unread now has been unread for long enough.
    const cancelEnd = this.#clock.after(unreadMinMs, () => this.#endUnread(unreadMinMs));
    this.#serve();
    return promise.finally(() => {
      holder.leaves?.delete(leave);
      cancel();
      cancelEnd();
      signal?.removeEventListener('abort', leave);
    });
  }

  #serve(): void {
    for (const waiting of this.#line) {
      if (!this.#mayTake(waiting)) return;
      this.#line.delete(waiting);
      this.#add(waiting.holder, waiting.addedBytes);
      waiting.letIn();
    }
  }

  /** Returns true if the first in line may get its memory. */
  #mayTake(waiting: Waiting): boolean {
    if (this.#fits(waiting.addedBytes)) return true;
    if (this.#beyond !== undefined) return false;
    if (waiting.turn === 'none') {
      waiting.turn = 'begun';
      this.#clock.after(beyondAfterMs, () => {
        waiting.turn = 'over';
        this.#serve();
      });
    }
    if (waiting.turn === 'begun') return false;
    this.#beyond = waiting.holder;
    return true;
  }

  /**
   * Ends answers that were unread for this time, the longest first, until all fit. `but` is the holder that is spared.
   */
  #endUnread(unreadForMs: number, but?: AnswerHolder): void {
    const waitingBytes = this.#line.values().next().value?.addedBytes ?? 0;
    for (const [holder, { sinceMs, end }] of this.#unread) {
      if (this.bytes - this.#endingBytes + waitingBytes <= this.maxBytes) return;
      if (this.#clock.nowMs() - sinceMs < unreadForMs) return;
      if (holder === but) continue;
      this.#unread.delete(holder);
      holder.isEnding = true;
      this.#endingBytes += holder.bytes;
      end();
    }
  }
}

/** Message of an error for a call without memory for its request or its answer. */
export const memoryFull = 'The requests and answers of running calls fill the memory set aside for them.';
