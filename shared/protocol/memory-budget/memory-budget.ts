// Divides one budget of a process among the memory of requests and answers: bodies and their parsed values, stored
// answers, providers' answers until they are sent, and any answer while its client does not read it. A call reserves
// memory for its request before it is read, and for its answer as it begins; it releases what it no longer needs.
import type { Clock } from '../../foundation/time/index.ts';
import { AnswerBudget, type AnswerHolder, type AnswerTake, openAnswerHolder } from './answer-budget.ts';
import { type Collect, createCollections } from './collections.ts';
import {
  openHolder,
  RequestBudget,
  type RequestHolder,
  type RequestTake,
  smallBodyMaxBytes,
} from './request-budget.ts';

/**
 * Default of the setting, which is enough for 45 of the largest bodies, or for 2,500 of the 76 KB that a coding agent
 * sends.
 */
const bytesInUseDefaultMax = 192 * 1024 * 1024;

/**
 * Releases that are collected are large releases, and any release of a large call while so much is in use. The runtime
 * collects other releases by itself, because a forced collection makes it forget compiled code, which costs later calls
 * a third more processor time.
 */
const largeReleaseMinBytes = 1024 * 1024;
const muchInUseBytes = 32 * 1024 * 1024;

export interface MemoryBudget {
  /** Opens the memory of one call, when its head has arrived. */
  open(): CallMemory;
  /** Opens memory for copies that no call waits for, which are made only while memory is free at once. */
  openCopies(): Copies;
  /** Returns the bytes that are reserved now. */
  bytesInUse(): number;
  /** Counts memory in addition to the budget that is about to be free, so that it is collected. */
  released(bytes: number): void;
}

export interface CallMemory {
  openRequest(): RequestAllocation;
  openAnswer(): AnswerAllocation;
  /**
   * Counts the unread bytes of the answer, if they are more than the reserved bytes; called when the client stops
   * reading. `end` is called when they are needed, for the answer that was unread longest first.
   */
  standStill(bytes: number, end: () => void): void;
  /** Called when the client reads again. */
  moveOn(): void;
  /** Called when the client reads nothing more, because it has the whole answer, or has left. */
  endReading(): void;
  /**
   * Releases the memory of answers, when none of them is being loaded; called when the answer has left. From then on a
   * long answer gets no memory, and a shorter answer is not counted.
   */
  endAnswer(): void;
  /** Releases everything; called when nothing refers to the request any more. */
  end(): void;
}

/** Memory of a request. */
export interface RequestAllocation {
  /**
   * Raises the reservation to at least this many bytes. Returns undefined if it fits at once; otherwise a promise that
   * resolves when it does. Rejects with RATE_LIMITER_UNAVAILABLE if that takes more than two seconds, or too many calls
   * wait.
   */
  take(take: RequestTake): Promise<void> | undefined;
  /** Releases all but this many bytes. */
  keepOnly(bytes: number): void;
}

/** Memory of an answer, or of a part of it. */
export interface AnswerAllocation {
  /**
   * Raises the memory to at least this many bytes. Rejects with RATE_LIMITER_UNAVAILABLE if the wait for them was
   * ended.
   */
  take(bytes: number, take: AnswerTake): Promise<void> | undefined;
  /**
   * Runs work that fills the memory, which stays reserved until the work has ended, also after the end of the call.
   * Rejects with RATE_LIMITER_UNAVAILABLE if the call has ended before.
   */
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Releases all but this many bytes. */
  keepOnly(bytes: number): void;
}

export interface Copies {
  /** Returns false if there is no memory for this many further bytes. */
  take(bytes: number): boolean;
  end(): void;
}

interface MemoryBudgetOptions {
  readonly maxBytes?: number | undefined;
  /** Frees released memory; if absent, only the runtime does. */
  readonly collect?: Collect | undefined;
}

export function createMemoryBudget(
  clock: Clock,
  { maxBytes = bytesInUseDefaultMax, collect }: MemoryBudgetOptions = {},
): MemoryBudget {
  const requests = new RequestBudget(clock, {
    maxBytes: Math.floor((maxBytes * 2) / 3),
    copiesMaxBytes: Math.floor(maxBytes / 4),
  });
  const collections = collect === undefined ? undefined : createCollections(clock, collect);
  const released = (bytes: number) => {
    const isMuch = bytes > largeReleaseMinBytes || (bytes > smallBodyMaxBytes && bytesInUse() > muchInUseBytes);
    if (isMuch) collections?.released(bytes);
  };
  const answers = new AnswerBudget(clock, Math.floor(maxBytes / 3), released);
  const bytesInUse = (): number => requests.bytes + answers.bytes;
  const budget: Budget = { requests, answers, released };
  return {
    bytesInUse,
    released: (bytes) => collections?.released(bytes),
    open: () => new MemoryOfCall(budget, clock.nowMs()),
    openCopies() {
      let bytesInUse = 0;
      return {
        take(bytes) {
          if (!requests.takeCopies(bytes)) return false;
          bytesInUse += bytes;
          return true;
        },
        end() {
          requests.dropCopies(bytesInUse);
          bytesInUse = 0;
        },
      };
    },
  };
}

interface Budget {
  readonly requests: RequestBudget;
  readonly answers: AnswerBudget;
  /** Called when a call has released this many bytes of its request. */
  readonly released: (bytes: number) => void;
}

class MemoryOfCall implements CallMemory {
  readonly #budget: Budget;
  readonly #arrivedAtMs: number;
  readonly #requests: RequestHolder[] = [];
  readonly #answer: AnswerHolder = openAnswerHolder();
  /** Number of loads that still fill the memory of the answer. */
  #loads = 0;
  #hasAnswered = false;
  #hasEnded = false;

  constructor(budget: Budget, arrivedAtMs: number) {
    this.#budget = budget;
    this.#arrivedAtMs = arrivedAtMs;
  }

  openRequest(): RequestAllocation {
    const { requests, released } = this.#budget;
    const holder = openHolder(this.#arrivedAtMs);
    this.#requests.push(holder);
    return {
      take: (take) => (this.#hasEnded ? undefined : requests.take(holder, take)),
      keepOnly(bytes) {
        const formerBytes = holder.bytes;
        requests.keepOnly(holder, bytes);
        released(formerBytes - holder.bytes);
      },
    };
  }

  openAnswer(): AnswerAllocation {
    const { answers } = this.#budget;
    let bytesInUse = 0;
    return {
      take: (bytes, take) => {
        // An answer that is larger than the whole budget counts as the whole budget.
        const addedBytes = Math.min(bytes, answers.maxBytes) - bytesInUse;
        if (addedBytes <= 0) return undefined;
        if (this.#hasAnswered) return take.mayWait ? Promise.reject(answers.refusal()) : undefined;
        const waits = answers.take(this.#answer, addedBytes, take);
        if (waits === undefined) bytesInUse += addedBytes;
        return waits?.then(() => {
          bytesInUse += addedBytes;
        });
      },
      during: (work) => this.#during(work),
      keepOnly: (bytes) => {
        const givenBack = Math.max(0, bytesInUse - bytes);
        if (this.#hasAnswered || givenBack === 0) return;
        bytesInUse -= givenBack;
        answers.giveBack(this.#answer, givenBack);
      },
    };
  }

  standStill(bytes: number, end: () => void): void {
    this.#budget.answers.standStill(this.#answer, bytes, end);
  }

  moveOn(): void {
    this.#budget.answers.moveOn(this.#answer);
  }

  endReading(): void {
    this.#budget.answers.endReading(this.#answer);
  }

  endAnswer(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    const { answers } = this.#budget;
    answers.endWaits(this.#answer);
    if (this.#loads === 0) answers.releaseAll(this.#answer);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { requests, released } = this.#budget;
    for (const holder of this.#requests) {
      released(holder.bytes);
      requests.end(holder);
    }
    this.endAnswer();
  }

  async #during<Value>(work: () => Promise<Value>): Promise<Value> {
    const { answers } = this.#budget;
    if (this.#hasAnswered) throw answers.refusal();
    this.#loads += 1;
    try {
      return await work();
    } finally {
      this.#loads -= 1;
      if (this.#hasAnswered && this.#loads === 0) answers.releaseAll(this.#answer);
    }
  }
}
