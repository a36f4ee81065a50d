// Everything by which the gateway ends a provider call, in one signal: silence, the deadline, a client that left.
import type { Clock, Deadline } from '../../foundation/time/index.ts';

type WatchEnd = 'silent' | 'idle' | 'deadline' | 'client_gone';

export interface Watch {
  /** Aborts when the watch ends; the socket to the provider closes with it. */
  readonly signal: AbortSignal;
  /** What ended it. Undefined: nothing did so far. */
  readonly endedBy: () => WatchEnd | undefined;
  /** Ends the call when nothing calls `expect` again within `limitMs`. */
  readonly expect: (what: 'silent' | 'idle', limitMs: number) => void;
  /** The wait is for the client now: a slow reader does not make a silent provider. */
  readonly pause: () => void;
  /** The answer is complete: timers are cancelled, and nothing is aborted any more. */
  readonly release: () => void;
  /** Gives the call up: its socket is closed. Nothing happens after a release. */
  readonly abort: () => void;
}

export function startWatch(clock: Clock, deadline: Deadline, clientGone: AbortSignal): Watch {
  const controller = new AbortController();
  let ended: WatchEnd | undefined;
  let isReleased = false;
  let cancelSilence = () => {};
  const cancelDeadline = clock.after(deadline.remainingMs(), () => end('deadline'));
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
    cancelSilence();
    cancelDeadline();
    clientGone.removeEventListener('abort', onGone);
  }

  return {
    signal: controller.signal,
    endedBy: () => ended,
    expect: (what, limitMs) => {
      cancelSilence();
      if (!isReleased) cancelSilence = clock.after(limitMs, () => end(what));
    },
    pause: () => cancelSilence(),
    release,
    abort,
  };
}
