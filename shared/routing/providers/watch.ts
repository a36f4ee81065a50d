// Everything that may end one provider call from our side, in one signal: silence, the deadline, a client that left.
import type { Clock, Deadline } from '../../foundation/time/index.ts';

export type WatchEnd = 'silent' | 'idle' | 'deadline' | 'client_gone';

export interface Watch {
  /** Aborts when the watch ends; the socket to the provider closes with it. */
  readonly signal: AbortSignal;
  /** Who ended it. Undefined: nobody did. */
  readonly endedBy: () => WatchEnd | undefined;
  /** Ends the call when nothing calls `expect` again within `limitMs`. */
  readonly expect: (what: 'silent' | 'idle', limitMs: number) => void;
  /** The provider is not the one who is waited for: a slow client does not make it a silent one. */
  readonly pause: () => void;
  /** The answer is complete: timers are taken back, and nothing is aborted any more. */
  readonly release: () => void;
  /** Gives the call up: its socket is closed. Nothing happens after a release. */
  readonly abort: () => void;
}

export function startWatch(clock: Clock, deadline: Deadline, clientGone: AbortSignal): Watch {
  const controller = new AbortController();
  let ended: WatchEnd | undefined;
  let isReleased = false;
  let takeBackSilence = () => {};
  const takeBackDeadline = clock.after(deadline.remainingMs(), () => end('deadline'));
  const onGone = () => end('client_gone');
  clientGone.addEventListener('abort', onGone, { once: true });
  if (clientGone.aborted) onGone();

  function end(by: WatchEnd) {
    ended ??= by;
    abort();
  }

  function abort() {
    if (isReleased) return;
    release();
    controller.abort();
  }

  function release() {
    isReleased = true;
    takeBackSilence();
    takeBackDeadline();
    clientGone.removeEventListener('abort', onGone);
  }

  return {
    signal: controller.signal,
    endedBy: () => ended,
    expect: (what, limitMs) => {
      takeBackSilence();
      if (!isReleased) takeBackSilence = clock.after(limitMs, () => end(what));
    },
    pause: () => takeBackSilence(),
    release,
    abort,
  };
}
