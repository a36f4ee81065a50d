// Assembles the message of a client from the chunks of a stream.
type Json = Record<string, unknown>;

export interface ReadChunks {
  // biome-ignore lint/suspicious/noExplicitAny: it is looked into field by field.
  readonly message: any;
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly isEnded: boolean;
}

type ToolCallChunk = {
  id?: unknown;
  type?: unknown;
  function: { name: string; arguments: string };
  extra_content?: unknown;
};

/** Reads chunks. Texts of one index are joined; single values stay. */
export function readChunks(texts: readonly string[]): ReadChunks {
  const calls: ToolCallChunk[] = [];
  const details: Json[] = [];
  const message: Json = { role: 'assistant', content: '', reasoning: '' };
  let finishReason: unknown;
  let usage: unknown;
  const chunks = texts.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text));
  for (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    for (const { delta, finish_reason: reason } of chunk.choices) {
      finishReason = reason ?? finishReason;
      message.content += delta.content ?? '';
      message.reasoning += delta.reasoning ?? '';
      if (delta.images !== undefined) message.images = delta.images;
      for (const { index, type, ...texts } of delta.reasoning_details ?? []) {
        // OpenAI's SDK for Python does the same: a text that is sent twice appears twice.
        const known = details[index] ?? {};
        const additions = Object.entries(texts).map(([name, text]) => [name, `${known[name] ?? ''}${text}`]);
        details[index] = { ...known, type, ...Object.fromEntries(additions), index };
      }
      for (const { index, function: fn, ...call } of delta.tool_calls ?? []) {
        const known = calls[index] ?? { function: { name: '', arguments: '' } };
        const name = known.function.name + (fn.name ?? '');
        calls[index] = { ...known, ...call, function: { name, arguments: known.function.arguments + fn.arguments } };
      }
    }
  }
  if (details.length > 0) message.reasoning_details = details;
  if (calls.length > 0) message.tool_calls = calls;
  return { message, finishReason, usage, isEnded: texts.at(-1) === '[DONE]' };
}
