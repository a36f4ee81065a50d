// Writes the chunks of Gemini's stream, for a translated answer, and for the end of a blocked answer. A whole answer is
// one chunk as it came.

/** `about` returns fields that every chunk repeats. */
export function openChunkWriter(emit: (chunk: Readonly<Record<string, unknown>>) => void, about: () => object) {
  const write = (candidate: object, usageMetadata?: unknown): void =>
    emit({
      candidates: [candidate],
      ...(usageMetadata === undefined ? {} : { usageMetadata }),
      ...about(),
    });
  return {
    add: (part: object) => write({ content: { parts: [part], role: 'model' }, index: 0 }),
    /** `end` is the reason why the answer ended. The last chunk has an empty text. */
    end: (end: object, usageMetadata: unknown) =>
      write({ content: { parts: [{ text: '' }], role: 'model' }, ...end, index: 0 }, usageMetadata),
  };
}
