// Combines everything on the gateway's side that may end a provider call in one signal: silence, the deadline, the
// client's departure, and a failure elsewhere in the workflow.
import type { Clock, Deadline } from '../../foundation/time/index.ts';

type WatchEnd = 'silent' | 'idle' | 'deadline' | 'client_gone' | 'stopped';

interface WatchSignals {
  readonly clientGone: AbortSignal;
  /**
   * Time for which the provider is read after its client left, because the client pays for the tokens that were used.
   * Default 0.
   */
  readonly graceMs?: number;
  /** Ends the call at once, when another step of the workflow has failed. */
  readonly stopped?: AbortSignal | undefined;
}

export interface Watch {
  /** Aborts when the watch ends; the socket to the provider closes with the watch. */
  readonly signal: AbortSignal;
  /** Returns the cause of the end; undefined while the watch is active. */
  readonly endedBy: () => WatchEnd | undefined;
  /** Ends the call when nothing calls `expect` again within `limitMs`. */
  readonly expect: (what: 'silent' | 'idle', limitMs: number) => void;
  /** Replaces the first deadline. */
  readonly extend: (deadline: Deadline) => void;
  /** Stops the silence timer, because the provider is not silent while the client reads slowly. */
  readonly pause: () => void;
  /** Called when the answer is complete. Timers are cancelled, and nothing is aborted after that. */
  readonly finish: () => void;
  /** Ends the call and closes its socket. Does nothing after `finish`. */
  readonly abort: () => void;
}

export function startWatch(
  clock: Clock,
  deadline: Deadline,
  { clientGone, graceMs = 0, stopped }: WatchSignals,
): Watch {
  const controller = new AbortController();
  let ended: WatchEnd | undefined;
  let isReleased = false;
  let cancelSilence = () => {};
  let cancelGrace = () => {};
  let cancelDeadline = endAt(deadline);
  const onStopped = () => end('stopped');
  const onGone = () => {
    if (graceMs === 0) end('client_gone');
    else if (Number.isFinite(graceMs)) cancelGrace = clock.after(graceMs, () => end('client_gone'));
  };
  clientGone.addEventListener('abort', onGone, { once: true });
  stopped?.addEventListener('abort', onStopped, { once: true });
  if (clientGone.aborted) onGone();
  if (stopped?.aborted === true) onStopped();

  function endAt(later: Deadline) {
    return clock.after(later.remainingMs(), () => end('deadline'));
  }

  function end(by: WatchEnd) {
    ended ??= by;
    abort();
  }

  function abort() {
    if (isReleased) return;
    finish();
    controller.abort();
  }

  function finish() {
    isReleased = true;
    cancelSilence();
    cancelGrace();
    cancelDeadline();
    clientGone.removeEventListener('abort', onGone);
    stopped?.removeEventListener('abort', onStopped);
  }

  return {
    signal: controller.signal,
    endedBy: () => ended,
    expect: (what, limitMs) => {
      cancelSilence();
      if (!isReleased) cancelSilence = clock.after(limitMs, () => end(what));
    },
    extend: (later) => {
      cancelDeadline();
      if (!isReleased) cancelDeadline = endAt(later);
    },
    pause: () => cancelSilence(),
    finish,
    abort,
  };
}
