// Reservations that do not fit yet, in two queues, so that no small one waits for a large one.
import type { Clock } from '../../foundation/time/index.ts';

/** `key`: others would fit, only the key of this call has its share already. */
export type Space = 'free' | 'none' | 'none_for_key';
type LineName = 'small' | 'large';

interface LineRules<Owner> {
  readonly waitMaxMs: number;
  /** Bound of each queue. */
  readonly waitingMax: number;
  readonly space: (owner: Owner, bytes: number) => Space;
  readonly count: (owner: Owner, bytes: number) => void;
  readonly refusal: (space: Space) => Error;
}

interface Waiting<Owner> {
  readonly owner: Owner;
  readonly bytes: number;
  readonly resolve: () => void;
}

export interface WaitingLine<Owner> {
  /** Returns undefined when there is space, and the bytes are counted. */
  enter(owner: Owner, bytes: number, name: LineName): Promise<void> | undefined;
  /** Counts reservations that now have space. */
  serve(): void;
  /** Ends the wait of a call that has ended. */
  leave(owner: Owner): void;
}

export function createWaitingLine<Owner extends { readonly bytes: number }>(
  clock: Clock,
  { waitMaxMs, waitingMax, space, count, refusal }: LineRules<Owner>,
): WaitingLine<Owner> {
  const lines: Readonly<Record<LineName, Set<Waiting<Owner>>>> = { small: new Set(), large: new Set() };
  const all = Object.values(lines);

  function wait(owner: Owner, bytes: number, line: Set<Waiting<Owner>>): Promise<void> {
    if (line.size >= waitingMax) return Promise.reject(refusal(space(owner, bytes)));
    return new Promise((resolve, reject) => {
      const cancel = clock.after(waitMaxMs, () => {
        line.delete(waiting);
        reject(refusal(space(owner, bytes)));
      });
      const end = () => {
        cancel();
        line.delete(waiting);
        resolve();
      };
      const waiting = { owner, bytes, resolve: end };
      line.add(waiting);
    });
  }

  /** A call that keeps bytes already passes others, because it frees them once it continues. */
  function mayPass(owner: Owner, line: Set<Waiting<Owner>>): boolean {
    return owner.bytes > 0 || [...line].every((before) => space(before.owner, before.bytes) === 'none_for_key');
  }

  return {
    enter(owner, bytes, name) {
      const line = lines[name];
      if (space(owner, bytes) !== 'free' || !mayPass(owner, line)) return wait(owner, bytes, line);
      count(owner, bytes);
      return undefined;
    },
    serve() {
      for (const line of all) {
        for (const { owner, bytes, resolve } of line) {
          const found = space(owner, bytes);
          if (found === 'none') break;
          if (found === 'none_for_key') continue;
          count(owner, bytes);
          resolve();
        }
      }
    },
    leave(owner) {
      for (const line of all) {
        for (const waiting of line) if (waiting.owner === owner) waiting.resolve();
      }
    },
  };
}
