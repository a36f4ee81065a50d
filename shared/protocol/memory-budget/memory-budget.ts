// One budget of a process for all that it keeps of requests and answers: bodies, what is made of them, stored answers that are
// loaded, providers' answers until they are handed on, and any answer while its client does not read it. What does not fit waits in a
// bounded line, then is refused; answers that stand unread end for it. A small call never waits for large ones: they leave a share to it.
import { fail, type GatewayError } from '../../errors/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { createCollections } from './collections.ts';
import { isLarge, KeptBytes, type Owner } from './kept-bytes.ts';
import { createUnreadAnswers, standingMinMs, type UnreadAnswers } from './unread-answers.ts';
import { createWaitingLine, type Space, type WaitingLine } from './waiting-line.ts';

/** Left out of the settings: 45 of the largest bodies, or 2,500 of the 76 KB that a coding agent sends. */
const keptDefaultMaxBytes = 192 * 1024 * 1024;

/** Within the two seconds after which a call is admitted or refused. */
const waitMaxMs = 1_500;
/** Calls that wait, of either kind: as many as may come at once. */
const waitingMax = 1_024;

export interface MemoryBudget {
  /** For one call, or another request. */
  open(): CallMemory;
  /** What is kept now. */
  keptBytes(): number;
}

/** What one call keeps. What keeps more of it reserves that first, and releases what it lets go. */
export interface CallMemory {
  /** Whose call it is, once that is known: the large calls of a key take at most half of what large calls may. */
  nameKey(keyId: string): void;
  /**
   * Undefined where so many bytes fit at once, which is the rule; else resolves when they do. Rejects with
   * RATE_LIMITER_UNAVAILABLE after a second and a half, or where too many wait.
   */
  reserve(bytes: number): Promise<void> | undefined;
  release(bytes: number): void;
  /** Releases all but so many bytes. */
  keepOnly(bytes: number): void;
  /** Of what comes and goes by itself while the call keeps more. */
  openPart(): MemoryPart;
  /**
   * The client reads no further, and so many bytes of the answer are left: they are counted where the call keeps less. `end` is called
   * where they are needed, of those that stand still the longest first.
   */
  standStill(bytes: number, end: () => void): void;
  /** The client reads on, or is gone. */
  moveOn(): void;
  /** Releases what is left, but for what stands unread. Whatever a call does later counts no more. */
  end(): void;
}

/** One thing that a call keeps, a part of what is counted for the call. */
interface MemoryPart {
  /** As that of the call. What was refused is not counted. */
  reserve(bytes: number): Promise<void> | undefined;
  keepOnly(bytes: number): void;
}

export interface MemoryBudgetOptions {
  readonly maxBytes?: number | undefined;
  /** Frees what is kept no longer. Left out: that is left to the runtime. */
  readonly collect?: (() => void) | undefined;
}

export function createMemoryBudget(
  clock: Clock,
  { maxBytes = keptDefaultMaxBytes, collect = () => {} }: MemoryBudgetOptions = {},
): MemoryBudget {
  const collections = createCollections(clock, collect);
  const kept = new KeptBytes(maxBytes);
  const unread = createUnreadAnswers<Owner>(clock, Math.floor(maxBytes / 3));

  function count(owner: Owner): void {
    const addedBytes = kept.count(owner);
    if (addedBytes >= 0) return;
    if (isLarge(owner.bytes - addedBytes)) collections.released(-addedBytes);
    line.serve();
  }

  const line = createWaitingLine<Owner>(clock, {
    ...{ waitMaxMs, waitingMax, refusal: noSpaceLeft },
    space: (owner, addedBytes) => kept.space(owner, addedBytes),
    count(owner, addedBytes) {
      owner.keptBytes += addedBytes;
      count(owner);
    },
  });

  /** Ends answers that stand unread until the bytes fit, or none is left whose end would help. */
  function endUnreadFor(owner: Owner, addedBytes: number): void {
    const ended = new Set<Owner>();
    unread.endLongest((one) => {
      const found = kept.space(owner, addedBytes, ended);
      if (found === 'free') return 'enough';
      const isOfUse = found === 'none_for_key' ? one.keyId === owner.keyId : one !== owner;
      if (!isOfUse || (isLarge(owner.bytes + addedBytes) && !isLarge(one.bytes))) return 'not_this';
      ended.add(one);
      return 'yes';
    });
  }

  function reserve(owner: Owner, bytes: number): Promise<void> | undefined {
    const waits = line.enter(owner, bytes, isLarge(owner.bytes + bytes) ? 'large' : 'small');
    if (waits === undefined) return undefined;
    endUnreadFor(owner, bytes);
    // What stands still by now has stood for long enough then.
    const cancel = clock.after(standingMinMs, () => endUnreadFor(owner, bytes));
    waits.then(cancel, cancel);
    return waits;
  }

  const budget: Budget = { reserve, count, kept, line, unread };
  return { keptBytes: () => kept.bytes, open: () => new KeptByCall(budget) };
}

interface Budget {
  reserve(owner: Owner, bytes: number): Promise<void> | undefined;
  /** After a change of what is kept or unread. */
  count(owner: Owner): void;
  readonly kept: KeptBytes;
  readonly line: WaitingLine<Owner>;
  readonly unread: UnreadAnswers<Owner>;
}

class KeptByCall implements CallMemory, Owner {
  keyId: string | undefined;
  keptBytes = 0;
  unreadBytes = 0;
  bytes = 0;
  readonly #budget: Budget;
  #hasEnded = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  nameKey(keyId: string): void {
    if (this.keyId === undefined) this.#budget.kept.nameKey(this, keyId);
  }

  reserve(bytes: number): Promise<void> | undefined {
    return this.#hasEnded ? undefined : this.#budget.reserve(this, bytes);
  }

  release(bytes: number): void {
    this.keptBytes = Math.max(0, this.keptBytes - bytes);
    this.#budget.count(this);
  }

  keepOnly(bytes: number): void {
    this.release(Math.max(0, this.keptBytes - bytes));
  }

  openPart(): MemoryPart {
    return new KeptPart(this);
  }

  standStill(bytes: number, end: () => void): void {
    this.unreadBytes = bytes;
    this.#budget.count(this);
    this.#budget.unread.standStill(this, this.bytes, end);
  }

  moveOn(): void {
    this.#budget.unread.moveOn(this);
    this.unreadBytes = 0;
    this.#budget.count(this);
  }

  end(): void {
    this.#hasEnded = true;
    this.#budget.line.leave(this);
    this.release(this.keptBytes);
  }
}

class KeptPart implements MemoryPart {
  readonly #call: CallMemory;
  #keptBytes = 0;

  constructor(call: CallMemory) {
    this.#call = call;
  }

  reserve(bytes: number): Promise<void> | undefined {
    const waits = this.#call.reserve(bytes);
    if (waits === undefined) this.#keptBytes += bytes;
    return waits?.then(() => {
      this.#keptBytes += bytes;
    });
  }

  keepOnly(bytes: number): void {
    const released = Math.max(0, this.#keptBytes - bytes);
    this.#keptBytes -= released;
    this.#call.release(released);
  }
}

/** A key that has its share already says nothing of the stage. */
const noSpaceLeft = (space: Space): GatewayError =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'The requests and answers of running calls fill the memory set aside for them.',
    ...(space === 'none_for_key' ? {} : { exhausted: 'process_memory' }),
  });
