// Assembles an answer from the events of a translated answer.
import type { FoldedAnswer } from '../../../hub/index.ts';
import { type JsonObject, parseInnerJson } from '../../../wire/index.ts';
import { openConverseFold } from '../stream-fold.ts';
import type { UsedByAnswer } from './write-events.ts';

export function foldAnswer() {
  const fold = openConverseFold((text) => parseInnerJson(text)?.value);
  let reason: unknown;
  let used: UsedByAnswer | undefined;

  function add(event: JsonObject, usedByAnswer?: UsedByAnswer): void {
    fold.add(event);
    reason ??= event.stopReason;
    used = usedByAnswer ?? used;
  }

  function answer(): FoldedAnswer {
    if (used === undefined) throw new Error('an answer has not ended');
    return {
      whole: fold.answer(),
      usage: used.report,
      outputBytes: used.outputBytes,
      finishReasons: [String(reason)],
    };
  }

  return { add, answer };
}
