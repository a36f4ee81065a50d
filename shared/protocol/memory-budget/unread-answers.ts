// Answers whose clients do not read them, the one that has stood still for longest first. A client that reads gets its answer however
// slowly it does.
import type { Clock } from '../../foundation/time/index.ts';

/** A reader that is slow takes something within that time. */
export const standingMinMs = 500;

interface Standing {
  readonly sinceMs: number;
  readonly bytes: number;
  /** Ends the answer. */
  readonly end: () => void;
}

export interface UnreadAnswers<Owner> {
  /** Ends the answers that were unread longest where all together exceed the bound. A single one may be longer. */
  standStill(owner: Owner, bytes: number, end: () => void): void;
  moveOn(owner: Owner): void;
  /**
   * Ends answers that were unread for `standingMinMs`, the longest first, as long as `isNeeded` says so of the next.
   */
  endLongest(isNeeded: (owner: Owner) => 'yes' | 'not_this' | 'enough'): void;
}

export function createUnreadAnswers<Owner>(clock: Clock, maxBytes: number): UnreadAnswers<Owner> {
  const standing = new Map<Owner, Standing>();
  let totalBytes = 0;
  const moveOn = (owner: Owner) => {
    totalBytes -= standing.get(owner)?.bytes ?? 0;
    standing.delete(owner);
  };
  return {
    standStill(owner, bytes, end) {
      moveOn(owner);
      standing.set(owner, { sinceMs: clock.nowMs(), bytes, end });
      totalBytes += bytes;
      for (const [longest, one] of standing) {
        if (totalBytes <= maxBytes || longest === owner) break;
        moveOn(longest);
        one.end();
      }
    },
    moveOn,
    endLongest(isNeeded) {
      for (const [owner, { sinceMs, end }] of standing) {
        const answer = clock.nowMs() - sinceMs < standingMinMs ? 'enough' : isNeeded(owner);
        if (answer === 'enough') return;
        if (answer === 'not_this') continue;
        moveOn(owner);
        end();
      }
    },
  };
}
