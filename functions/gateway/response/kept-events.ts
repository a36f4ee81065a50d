// The events of a stream as the response cache keeps them.
import type { CachedAnswer, KeptEvents } from '../../../shared/accounting/response-cache/index.ts';
import { collectedStreamMaxBytes } from '../../../shared/foundation/constants/index.ts';
import type { EventText } from '../../../shared/protocol/wire/index.ts';

export interface EventKeeper {
  /** Undefined: nothing is kept. */
  readonly add: ((event: EventText) => void) | undefined;
  /** Undefined: nothing was kept, or it is too much. */
  readonly content: () => CachedAnswer['content'] | undefined;
}

export function keepEvents(isKept: boolean): EventKeeper {
  if (!isKept) return { add: undefined, content: () => undefined };
  const chunks: KeptEvents[number][] = [];
  let length = 0;
  return {
    add({ name, text }) {
      length += text.length;
      if (length <= collectedStreamMaxBytes) chunks.push(name === undefined ? text : [name, text]);
    },
    content: () => (length <= collectedStreamMaxBytes ? { kind: 'stream', chunks } : undefined),
  };
}
