// The message that the events of a translated answer make.
import type { FoldedAnswer } from '../../../hub/index.ts';
import { parseInnerJson } from '../../../wire/index.ts';
import { openMessageFold } from '../stream-fold.ts';
import type { EmitEvent, Used } from './message-types.ts';

export function foldMessage() {
  const fold = openMessageFold((text) => parseInnerJson(text)?.value);
  let end: { readonly reason: string; readonly used: Used } | undefined;

  const add: EmitEvent = (event, used) => {
    fold.add({ ...event });
    if (event.type === 'message_delta' && used !== undefined) end = { reason: event.delta.stop_reason, used };
  };

  function answer(): FoldedAnswer {
    if (end === undefined) throw new Error('a message has not ended');
    const { report, outputBytes } = end.used;
    const { usage, ...message } = fold.answer();
    const whole = { ...message, usage: { ...(usage as object), ...report?.members } };
    return {
      whole: whole,
      usage: report,
      outputBytes,
      finishReasons: [end.reason],
      storedIds: [String(message.id)],
    };
  }

  return { add, answer };
}
