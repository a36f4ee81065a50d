// Assembles a message from the events of a translated answer.
import type { FoldedAnswer } from '../../../hub/index.ts';
import { parseInnerJson } from '../../../wire/index.ts';
import { openMessageFold } from '../stream-fold.ts';
import type { EmitEvent, EndUsage } from './write-message-events.ts';

export function foldMessage() {
  const fold = openMessageFold((text) => parseInnerJson(text)?.value);
  let end: EndUsage | undefined;

  const add: EmitEvent = (event, used) => {
    fold.add({ ...event });
    end = used ?? end;
  };

  function answer(): FoldedAnswer {
    if (end === undefined) throw new Error('a message has not ended');
    const { report, outputBytes } = end;
    const { usage, ...message } = fold.answer();
    const whole = { ...message, usage: { ...(usage as object), ...report?.members } };
    return {
      whole: whole,
      usage: report,
      outputBytes,
      finishReasons: [String(message.stop_reason)],
      storedIds: [String(message.id)],
    };
  }

  return { add, answer };
}
