// One budget of a process for all that it keeps of requests and answers: bodies, what is made of them, stored answers that are
// loaded, and providers' answers until they are handed on. What does not fit waits in a bounded line, then is refused. A small
// call never waits for large ones: they leave a share to it.
import { fail, type GatewayError } from '../../errors/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { createCollections } from './collections.ts';
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
  /** Releases what is left. Whatever a call does later counts no more. */
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
  bytes: number;
  hasEnded: boolean;
}

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
  let keptBytes = 0;
  let largeBytes = 0;
  /** Keys with a large call only. */
  const largeBytesOfKeys = new Map<string, number>();

  function space({ bytes, keyId }: Owner, addedBytes: number): Space {
    if (!isLarge(bytes + addedBytes)) return keptBytes + addedBytes <= maxBytes ? 'free' : 'none';
    const own = largeBytesOf(bytes);
    const ofOthers = largeBytes - own;
    // What is larger than all that goes alone.
    if (ofOthers === 0) return 'free';
    if (ofOthers + bytes + addedBytes > largeMaxBytes || keptBytes + addedBytes > maxBytes) return 'none';
    const ofKey = keyId === undefined ? 0 : (largeBytesOfKeys.get(keyId) ?? 0) - own;
    return ofKey === 0 || ofKey + bytes + addedBytes <= keyMaxBytes ? 'free' : 'none_for_key';
  }

  function count(owner: Owner, addedBytes: number): void {
    const addedLargeBytes = largeBytesOf(owner.bytes + addedBytes) - largeBytesOf(owner.bytes);
    owner.bytes += addedBytes;
    keptBytes += addedBytes;
    largeBytes += addedLargeBytes;
    if (owner.keyId !== undefined) countOfKey(owner.keyId, addedLargeBytes);
  }

  function countOfKey(keyId: string, addedLargeBytes: number): void {
    const bytes = (largeBytesOfKeys.get(keyId) ?? 0) + addedLargeBytes;
    if (bytes > 0) largeBytesOfKeys.set(keyId, bytes);
    else largeBytesOfKeys.delete(keyId);
  }

  const line = createWaitingLine<Owner>(clock, { waitMaxMs, waitingMax, space, count, refusal: noSpaceLeft });

  return {
    keptBytes: () => keptBytes,
    open() {
      const owner: Owner = { keyId: undefined, bytes: 0, hasEnded: false };
      const release = (bytes: number) => {
        const released = Math.min(bytes, owner.bytes);
        if (isLarge(owner.bytes) && released > 0) collections.released(released);
        count(owner, -released);
        line.serve();
      };
      const reserve = (bytes: number) => {
        if (owner.hasEnded) return undefined;
        return line.enter(owner, bytes, isLarge(owner.bytes + bytes) ? 'large' : 'small');
      };
      return {
        nameKey(keyId) {
          if (owner.keyId !== undefined) return;
          owner.keyId = keyId;
          countOfKey(keyId, largeBytesOf(owner.bytes));
        },
        reserve,
        release,
        keepOnly: (bytes) => release(Math.max(0, owner.bytes - bytes)),
        openPart: () => openPart({ reserve, release }),
        end() {
          owner.hasEnded = true;
          line.leave(owner);
          release(owner.bytes);
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
