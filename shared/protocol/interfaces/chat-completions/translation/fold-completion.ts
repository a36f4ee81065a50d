// Assembles a chat completion from the chunks of a translated answer.
import type { FoldedAnswer } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { outputBytesOfMessage } from '../output-of-deltas.ts';
import { readUsageReport } from '../read-usage.ts';
import { openCompletionFold } from '../stream-fold.ts';
import type { Chunk } from './write-chunks.ts';

export function foldCompletion() {
  const fold = openCompletionFold();
  const add = (chunk: Chunk): void => fold.add({ ...chunk });

  function answer(): FoldedAnswer {
    const { choices, ...completion } = fold.answer();
    const [choice] = choices as JsonObject[];
    if (typeof choice?.finish_reason !== 'string') throw new Error('a completion has not ended');
    const message = wholeMessage(choice.message as JsonObject);
    const written = { ...completion, choices: [{ ...choice, message }] };
    return {
      whole: written,
      usage: readUsageReport(isJsonObject(completion.usage) ? completion.usage : undefined),
      outputBytes: outputBytesOfMessage(message),
      finishReasons: [choice.finish_reason],
    };
  }

  return { add, answer };
}

/**
 * Returns the message with every field that clients' SDKs declare; an empty text together with calls or a refusal
 * becomes null.
 */
function wholeMessage({ content, refusal = null, ...message }: JsonObject): JsonObject {
  const hasOther = refusal !== null || Array.isArray(message.tool_calls);
  return { ...message, content: content === '' && hasOther ? null : (content ?? ''), refusal };
}
