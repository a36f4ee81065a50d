// One budget of a process for the memory of requests and answers: bodies and their parsed forms, stored answers,
// providers' answers until they are sent, and any answer while its client does not read it. A reservation that does not
// fit waits in a bounded queue, then is refused; unread answers are ended for it. A small call never waits for large
// ones, which leave it a share.
import { fail, type GatewayError } from '../../errors/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { BytesInUse, isLarge, type Owner } from './bytes-in-use.ts';
import { createCollections } from './collections.ts';
import { createUnreadAnswers, standingMinMs, type UnreadAnswers } from './unread-answers.ts';
import { createWaitingLine, type Space, type WaitingLine } from './waiting-line.ts';

/** Default of the settings: 45 of the largest bodies, or 2,500 of the 76 KB that a coding agent sends. */
const bytesInUseDefaultMax = 192 * 1024 * 1024;

/** Within the two seconds after which a call is admitted or refused. */
const waitMaxMs = 1_500;
/** Number of waiting calls of either kind: as many as may arrive at once. */
const waitingMax = 1_024;

export interface MemoryBudget {
  /** Opens the memory of one call, or of another request. */
  open(): CallMemory;
  /** Bytes that are kept now. */
  bytesInUse(): number;
}

/** Memory of one call, which reserves bytes before it keeps them, and releases those that it drops. */
export interface CallMemory {
  /** Names the key of the call: the large calls of a key take at most half of the bytes for large calls. */
  nameKey(keyId: string): void;
  /**
   * Returns undefined where the bytes fit at once, as they usually do; else a promise that resolves when they do.
   * Rejects with RATE_LIMITER_UNAVAILABLE after a second and a half, or where too many wait.
   */
  reserve(bytes: number): Promise<void> | undefined;
  release(bytes: number): void;
  /** Releases all but so many bytes. */
  keepOnly(bytes: number): void;
  /** Opens a part for bytes that come and go while the call keeps others. */
  openPart(): MemoryPart;
  /**
   * Called when the client stops reading, with the unread bytes of the answer, which are counted where the call keeps
   * fewer. `end` is called where they are needed, for the answer that was unread longest first.
   */
  standStill(bytes: number, end: () => void): void;
  /** The client reads on, or is gone. */
  moveOn(): void;
  /** Releases the rest, except unread bytes. Later bytes of the call are not counted. */
  end(): void;
}

/** A separately counted part of a call's memory. */
interface MemoryPart {
  /** As `reserve` of the call. Refused bytes are not counted. */
  reserve(bytes: number): Promise<void> | undefined;
  keepOnly(bytes: number): void;
}

export interface MemoryBudgetOptions {
  readonly maxBytes?: number | undefined;
  /** Frees released memory; left to the runtime if absent. */
  readonly collect?: (() => void) | undefined;
}

export function createMemoryBudget(
  clock: Clock,
  { maxBytes = bytesInUseDefaultMax, collect = () => {} }: MemoryBudgetOptions = {},
): MemoryBudget {
  const collections = createCollections(clock, collect);
  const bytesInUse = new BytesInUse(maxBytes);
  const unread = createUnreadAnswers<Owner>(clock, Math.floor(maxBytes / 3));

  function count(owner: Owner): void {
    const addedBytes = bytesInUse.count(owner);
    if (addedBytes >= 0) return;
    if (isLarge(owner.bytes - addedBytes)) collections.released(-addedBytes);
    line.serve();
  }

  const line = createWaitingLine<Owner>(clock, {
    ...{ waitMaxMs, waitingMax, refusal: noSpaceLeft },
    space: (owner, addedBytes) => bytesInUse.space(owner, addedBytes),
    count(owner, addedBytes) {
      owner.bytesInUse += addedBytes;
      count(owner);
    },
  });

  /** Ends unread answers until the bytes fit, or no further end would help. */
  function endUnreadFor(owner: Owner, addedBytes: number): void {
    const ended = new Set<Owner>();
    unread.endLongest((one) => {
      const found = bytesInUse.space(owner, addedBytes, ended);
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
    // Every answer that is unread now has then been unread for long enough.
    const cancel = clock.after(standingMinMs, () => endUnreadFor(owner, bytes));
    waits.then(cancel, cancel);
    return waits;
  }

  const budget: Budget = { reserve, count, bytesInUse, line, unread };
  return { bytesInUse: () => bytesInUse.bytes, open: () => new CallBytes(budget) };
}

interface Budget {
  reserve(owner: Owner, bytes: number): Promise<void> | undefined;
  /** Called after a change of kept or unread bytes. */
  count(owner: Owner): void;
  readonly bytesInUse: BytesInUse;
  readonly line: WaitingLine<Owner>;
  readonly unread: UnreadAnswers<Owner>;
}

class CallBytes implements CallMemory, Owner {
  keyId: string | undefined;
  bytesInUse = 0;
  unreadBytes = 0;
  bytes = 0;
  readonly #budget: Budget;
  #hasEnded = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  nameKey(keyId: string): void {
    if (this.keyId === undefined) this.#budget.bytesInUse.nameKey(this, keyId);
  }

  reserve(bytes: number): Promise<void> | undefined {
    return this.#hasEnded ? undefined : this.#budget.reserve(this, bytes);
  }

  release(bytes: number): void {
    this.bytesInUse = Math.max(0, this.bytesInUse - bytes);
    this.#budget.count(this);
  }

  keepOnly(bytes: number): void {
    this.release(Math.max(0, this.bytesInUse - bytes));
  }

  openPart(): MemoryPart {
    return new CountedPart(this);
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
    this.release(this.bytesInUse);
  }
}

class CountedPart implements MemoryPart {
  readonly #call: CallMemory;
  #bytesInUse = 0;

  constructor(call: CallMemory) {
    this.#call = call;
  }

  reserve(bytes: number): Promise<void> | undefined {
    const waits = this.#call.reserve(bytes);
    if (waits === undefined) this.#bytesInUse += bytes;
    return waits?.then(() => {
      this.#bytesInUse += bytes;
    });
  }

  keepOnly(bytes: number): void {
    const released = Math.max(0, this.#bytesInUse - bytes);
    this.#bytesInUse -= released;
    this.#call.release(released);
  }
}

/** A key that has its share already says nothing of the stage. */
const noSpaceLeft = (space: Space): GatewayError =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'The requests and answers of running calls fill the memory set aside for them.',
    ...(space === 'none_for_key' ? {} : { exhausted: 'process_memory' }),
  });
