// Writes the events of an answer of Converse in their sequence, for a translated answer, for a whole answer, and for
// the end of a blocked answer.

type EmitEvent = (name: string, event: Readonly<Record<string, unknown>>) => void;

interface BlockPlace {
  /** Index of the last block that has started; -1 before the first block. */
  readonly index: number;
  readonly isOpen: boolean;
}

export type ConverseWriter = ReturnType<typeof openConverseWriter>;

/** A block ends when the next block begins, because only one block is open at a time. Values may be slices of JSON. */
export function openConverseWriter(
  emit: EmitEvent,
  { index: contentBlockIndex, isOpen }: BlockPlace = { index: -1, isOpen: false },
) {
  const addDelta = (delta: unknown) => emit('contentBlockDelta', { contentBlockIndex, delta });

  function close(): void {
    if (isOpen) emit('contentBlockStop', { contentBlockIndex });
    isOpen = false;
  }

  function begin(): void {
    close();
    contentBlockIndex += 1;
    isOpen = true;
  }

  return {
    start: (role: unknown) => emit('messageStart', { role }),
    /** Text and thinking begin with their first piece. */
    begin,
    /** `toolUse` is given without its input. */
    beginCall(toolUse: unknown): void {
      begin();
      emit('contentBlockStart', { contentBlockIndex, start: { toolUse } });
    },
    addDelta,
    addText: (text: unknown) => addDelta({ text }),
    addThinking: (text: unknown) => addDelta({ reasoningContent: { text } }),
    addSignature: (signature: unknown) => addDelta({ reasoningContent: { signature } }),
    /** `input` is a piece of the JSON of a call's input. */
    addInput: (input: string) => addDelta({ toolUse: { input } }),
    close,
    /** `metadata` has usage and metrics. */
    end(stop: object, metadata: object): void {
      emit('messageStop', { ...stop });
      emit('metadata', { ...metadata });
    },
  };
}
