// One budget of a process for all that it keeps of requests and answers: bodies, what is made of them, stored answers that are
// loaded, providers' answers until they are handed on, and any answer while its client does not read it. What does not fit waits in a
// bounded line, then is refused; answers that stand unread end for it. A small call never waits for large ones: they leave a share to it.
import { fail, type GatewayError } from '../../errors/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { createCollections } from './collections.ts';
import { createUnreadAnswers, standingMinMs } from './unread-answers.ts';
import { createWaitingLine, type Space } from './waiting-line.ts';

/** Left out of the settings: 45 of the largest bodies, or 2,500 of the 76 KB that a coding agent sends. */
const keptDefaultMaxBytes = 192 * 1024 * 1024;

/** A call is small until more than this is kept for it. */
const largeCallBytes = 64 * 1024;
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

interface Owner {
  keyId: string | undefined;
  keptBytes: number;
  /** Of its answer. They lie in what is kept, as a rule. */
  unreadBytes: number;
  /** The more of the two. */
  bytes: number;
  hasEnded: boolean;
}

const noOwners: ReadonlySet<Owner> = new Set();

const isLarge = (bytes: number): boolean => bytes > largeCallBytes;
const largeBytesOf = (bytes: number): number => (isLarge(bytes) ? bytes : 0);

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
  // A third is for small calls alone.
  const largeMaxBytes = Math.floor((maxBytes * 2) / 3);
  const keyMaxBytes = Math.floor(largeMaxBytes / 2);
  const unread = createUnreadAnswers<Owner>(clock, Math.floor(maxBytes / 3));
  let keptBytes = 0;
  let largeBytes = 0;
  /** Keys with a large call only. */
  const largeBytesOfKeys = new Map<string, number>();

  /** `without`: what these keep is as good as released. */
  function space({ bytes, keyId }: Owner, addedBytes: number, without: ReadonlySet<Owner> = noOwners): Space {
    let [ofAll, ofLarge, ofKey] = [keptBytes, largeBytes, keyId === undefined ? 0 : (largeBytesOfKeys.get(keyId) ?? 0)];
    for (const one of without) {
      ofAll -= one.bytes;
      ofLarge -= largeBytesOf(one.bytes);
      if (keyId !== undefined && one.keyId === keyId) ofKey -= largeBytesOf(one.bytes);
    }
    if (!isLarge(bytes + addedBytes)) return ofAll + addedBytes <= maxBytes ? 'free' : 'none';
    const own = largeBytesOf(bytes);
    // What is larger than all that goes alone.
    if (ofLarge === own) return 'free';
    if (ofLarge - own + bytes + addedBytes > largeMaxBytes || ofAll + addedBytes > maxBytes) return 'none';
    const ofOthers = keyId === undefined ? 0 : ofKey - own;
    return ofOthers === 0 || ofOthers + bytes + addedBytes <= keyMaxBytes ? 'free' : 'none_for_key';
  }

  /** Ends answers that stand unread until the bytes fit, or none is left whose end would help. */
  function endUnreadFor(owner: Owner, addedBytes: number): void {
    const ended = new Set<Owner>();
    unread.endLongest((one) => {
      const found = space(owner, addedBytes, ended);
      if (found === 'free') return 'enough';
      const isOfUse = found === 'none_for_key' ? one.keyId === owner.keyId : one !== owner;
      if (!isOfUse || (isLarge(owner.bytes + addedBytes) && !isLarge(one.bytes))) return 'not_this';
      ended.add(one);
      return 'yes';
    });
  }

  function count(owner: Owner, change: Partial<Pick<Owner, 'keptBytes' | 'unreadBytes'>>): void {
    Object.assign(owner, change);
    const addedBytes = Math.max(owner.keptBytes, owner.unreadBytes) - owner.bytes;
    const addedLargeBytes = largeBytesOf(owner.bytes + addedBytes) - largeBytesOf(owner.bytes);
    owner.bytes += addedBytes;
    keptBytes += addedBytes;
    largeBytes += addedLargeBytes;
    if (owner.keyId !== undefined) countOfKey(owner.keyId, addedLargeBytes);
    if (addedBytes >= 0) return;
    if (isLarge(owner.bytes - addedBytes)) collections.released(-addedBytes);
    line.serve();
  }

  function countOfKey(keyId: string, addedLargeBytes: number): void {
    const bytes = (largeBytesOfKeys.get(keyId) ?? 0) + addedLargeBytes;
    if (bytes > 0) largeBytesOfKeys.set(keyId, bytes);
    else largeBytesOfKeys.delete(keyId);
  }

  const line = createWaitingLine<Owner>(clock, {
    ...{ waitMaxMs, waitingMax, space, refusal: noSpaceLeft },
    count: (owner, addedBytes) => count(owner, { keptBytes: owner.keptBytes + addedBytes }),
  });

  function reserve(owner: Owner, bytes: number): Promise<void> | undefined {
    if (owner.hasEnded) return undefined;
    const waits = line.enter(owner, bytes, isLarge(owner.bytes + bytes) ? 'large' : 'small');
    if (waits === undefined) return undefined;
    endUnreadFor(owner, bytes);
    // What stands still by now has stood for long enough then.
    const cancel = clock.after(standingMinMs, () => endUnreadFor(owner, bytes));
    waits.then(cancel, cancel);
    return waits;
  }

  return {
    keptBytes: () => keptBytes,
    open() {
      const owner: Owner = { keyId: undefined, keptBytes: 0, unreadBytes: 0, bytes: 0, hasEnded: false };
      const release = (bytes: number) => count(owner, { keptBytes: Math.max(0, owner.keptBytes - bytes) });
      const ofOwner = { reserve: (bytes: number) => reserve(owner, bytes), release };
      return {
        ...ofOwner,
        nameKey(keyId) {
          if (owner.keyId !== undefined) return;
          owner.keyId = keyId;
          countOfKey(keyId, largeBytesOf(owner.bytes));
        },
        keepOnly: (bytes) => release(Math.max(0, owner.keptBytes - bytes)),
        openPart: () => openPart(ofOwner),
        standStill(bytes, end) {
          count(owner, { unreadBytes: bytes });
          unread.standStill(owner, owner.bytes, end);
        },
        moveOn() {
          unread.moveOn(owner);
          count(owner, { unreadBytes: 0 });
        },
        end() {
          owner.hasEnded = true;
          line.leave(owner);
          release(owner.keptBytes);
        },
      };
    },
  };
}

function openPart({ reserve, release }: Pick<CallMemory, 'reserve' | 'release'>): MemoryPart {
  let keptBytes = 0;
  return {
    reserve(bytes) {
      const waits = reserve(bytes);
      if (waits === undefined) keptBytes += bytes;
      return waits?.then(() => {
        keptBytes += bytes;
      });
    },
    keepOnly(bytes) {
      const released = Math.max(0, keptBytes - bytes);
      keptBytes -= released;
      release(released);
    },
  };
}

/** A key that has its share already says nothing of the stage. */
const noSpaceLeft = (space: Space): GatewayError =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'The requests and answers of running calls fill the memory set aside for them.',
    ...(space === 'none_for_key' ? {} : { exhausted: 'process_memory' }),
  });
