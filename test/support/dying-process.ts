// A process that dies at a chosen point, simulated inside this process: from that point on no answer reaches it, no
// timer fires and none of its requests is performed. Earlier requests are performed all the same, as over a real
// network. From outside, kill -9 looks the same.

import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Transport, UpstreamAnswer } from '../../shared/routing/providers/index.ts';
import type { DynamoClient } from '../../shared/storage/dynamodb-store/index.ts';
import { aroundSend } from './around-send.ts';

/** Replacements for a process's client, clock and transport. */
export interface Wrappers {
  readonly client: (client: DynamoClient) => DynamoClient;
  readonly clock: (clock: Clock) => Clock;
  readonly transport: (transport: Transport) => Transport;
}

export interface CrashPoint {
  /**
   * Number of the event at which it dies, if any. Events are commands to the store, calls of providers and pieces of
   * their answers.
   */
  readonly at: number;
  /** Whether the store runs the last command, whose answer no process receives any more. */
  readonly lastOneRuns: boolean;
}

export interface DyingProcess {
  readonly wrap: Wrappers;
  readonly death: Promise<void>;
  /** Makes it die now. */
  readonly kill: () => void;
  /** Returns the number of events. */
  readonly events: () => number;
}

const never = new Promise<never>(() => {});

export function dyingProcess({ at, lastOneRuns }: CrashPoint): DyingProcess {
  const death = Promise.withResolvers<void>();
  let events = 0;
  let isDead = false;

  const timers = new Set<() => void>();
  const die = () => {
    isDead = true;
    for (const cancel of timers) cancel();
    death.resolve();
    return never;
  };
  /** Counts an event and performs it, unless the process is dead by then or dies before the answer arrives. */
  async function event<Value>(act: () => Promise<Value>, runsAtLast: boolean): Promise<Value> {
    if (isDead) return never;
    events += 1;
    const isLast = events === at;
    if (isLast && !runsAtLast) return die();
    const value = await act();
    if (isLast) return die();
    return isDead ? never : value;
  }

  function startTimer(clock: Clock, delayMs: number, callback: () => void): () => void {
    if (isDead) return () => {};
    const stop = clock.after(delayMs, () => {
      timers.delete(cancel);
      callback();
    });
    const cancel = () => {
      timers.delete(cancel);
      stop();
    };
    timers.add(cancel);
    return cancel;
  }

  async function* pieces(body: UpstreamAnswer['body']): AsyncGenerator<Buffer> {
    const iterator = body[Symbol.asyncIterator]();
    for (;;) {
      const next = await event(() => iterator.next(), false);
      if (next.done === true) return;
      yield next.value;
    }
  }
  const wrap: Wrappers = {
    client: (client) => aroundSend(client, (_command, send) => event(send, lastOneRuns)),
    clock: (clock: Clock) => ({
      nowMs: clock.nowMs,
      after: (delayMs, callback) => startTimer(clock, delayMs, callback),
    }),
    transport: (transport: Transport) => ({
      close: transport.close,
      send: async (request) => {
        const answer = await event(() => transport.send(request), false);
        return { ...answer, body: pieces(answer.body) };
      },
    }),
  };
  return { wrap, death: death.promise, kill: () => void die(), events: () => events };
}
