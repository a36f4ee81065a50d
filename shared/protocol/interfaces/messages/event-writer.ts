// Writes the events of a message in their sequence, for a translated answer, for a whole answer, and for the end of a
// blocked answer.

export interface MessageEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface BlockPlace {
  /** Index of the last block that has started; -1 before the first block. */
  readonly index: number;
  readonly isOpen: boolean;
}

/** A block ends when the next block begins, because only one block is open at a time. Values may be slices of JSON. */
export function openMessageWriter(
  emit: (event: MessageEvent) => void,
  { index, isOpen }: BlockPlace = { index: -1, isOpen: false },
) {
  const addDelta = (delta: object) => emit({ type: 'content_block_delta', index, delta });

  function close(): void {
    if (isOpen) emit({ type: 'content_block_stop', index });
    isOpen = false;
  }

  return {
    start: (message: unknown) => emit({ type: 'message_start', message }),
    begin(block: unknown): void {
      close();
      index += 1;
      isOpen = true;
      emit({ type: 'content_block_start', index, content_block: block });
    },
    addText: (text: unknown) => addDelta({ type: 'text_delta', text }),
    addCitation: (citation: unknown) => addDelta({ type: 'citations_delta', citation }),
    addThinking: (thinking: unknown) => addDelta({ type: 'thinking_delta', thinking }),
    addSignature: (signature: unknown) => addDelta({ type: 'signature_delta', signature }),
    /** `input` is a piece of the JSON of a call's input. */
    addInput: (input: string) => addDelta({ type: 'input_json_delta', partial_json: input }),
    close,
    /** `beside` has the usage, and other fields of the last event next to the changes of the message. */
    end(changes: object, beside: object): void {
      emit({ type: 'message_delta', delta: changes, ...beside });
      emit({ type: 'message_stop' });
    },
  };
}
