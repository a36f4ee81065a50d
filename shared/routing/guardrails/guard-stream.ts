// A stream whose texts are checked in windows: an event leaves when the window that it is in has passed, in its order.

import type { EventBatch } from '../providers/index.ts';
import { endStoppedStream, type StoppedStreamOptions } from './end-stopped-stream.ts';
import { EventWindow, type EventWindowOptions } from './event-window.ts';

export type GuardedStreamOptions = EventWindowOptions & StoppedStreamOptions;

export async function* guardStream(
  batches: AsyncIterator<EventBatch, void>,
  options: GuardedStreamOptions,
): AsyncGenerator<EventBatch, void, undefined> {
  const window = new EventWindow(options);
  for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
    const { events, failure } = next.value;
    for (const [at, event] of events.entries()) {
      const notHeld = await window.hold(event);
      const isEnd = at === events.length - 1 && failure !== undefined;
      if (notHeld === undefined && !isEnd && !event.details.isLast && !window.isFull()) continue;
      const released = notHeld ?? (await window.release(isEnd || event.details.isLast));
      if (!Array.isArray(released)) {
        const rest = events.slice(notHeld === undefined ? at + 1 : at);
        yield* endStoppedStream(released, { batches, ...window.drop(), rest, failure }, options);
        return;
      }
      if (released.length > 0) yield { events: released };
    }
    if (failure !== undefined) {
      const { start, dropped } = window.drop();
      yield { events: [], dropped: [...start, ...dropped], failure };
      return;
    }
  }
  const released = await window.release(true);
  if (Array.isArray(released)) yield { events: released };
  else yield* endStoppedStream(released, { batches, ...window.drop(), rest: [], failure: undefined }, options);
}
