// Performs steps on a real HTTP answer. Stops at once when the client disconnects; never rejects because of that.
import type { ServerResponse } from 'node:http';
import { type Clock, sleep } from '../../../shared/foundation/time/index.ts';
import type { SimulatorStep, Steps } from './step.ts';

interface Wire {
  readonly response: ServerResponse;
  readonly clock: Clock;
  /** Aborts when the connection has ended, whichever side closed it. */
  readonly gone: AbortSignal;
  /** Called before the simulator itself breaks the connection, so that this does not count as a disconnected client. */
  readonly breaking: () => void;
}

export async function play(steps: Steps, wire: Wire): Promise<void> {
  for (const step of steps) {
    if (wire.gone.aborted) return;
    await perform(step, wire);
  }
}

function perform(step: SimulatorStep, { response, clock, gone, breaking }: Wire): Promise<void> {
  switch (step.kind) {
    case 'head':
      return unlessGone(gone, (done) => {
        response.writeHead(step.status, step.headers);
        response.flushHeaders();
        response.socket?.write('', done);
      });
    case 'write':
      // An empty HTTP chunk would be the end marker of the body.
      if (step.bytes.length === 0) return Promise.resolve();
      return unlessGone(gone, (done) => response.write(step.bytes, done));
    case 'raw':
      breaking();
      return unlessGone(gone, (done) => response.socket?.write(step.text, () => done()));
    case 'wait':
      return step.delayMs > 0 ? sleep(clock, step.delayMs, gone) : Promise.resolve();
    case 'silence':
      return unlessGone(gone, () => {});
    case 'end':
      return unlessGone(gone, (done) => response.end(done));
    case 'cut':
      breaking();
      return unlessGone(gone, () => response.socket?.destroy());
    case 'reset':
      breaking();
      return unlessGone(gone, () => response.socket?.resetAndDestroy());
  }
}

/** Resolves when `act` calls `done`, or when the connection has ended, because `done` may never be called then. */
function unlessGone(gone: AbortSignal, act: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      gone.removeEventListener('abort', done);
      resolve();
    };
    gone.addEventListener('abort', done, { once: true });
    act(done);
  });
}
