// The blocks of an answer. One is open at a time: where the next one begins, it ends. A text and thinking begin with
// their first piece.
import { type AnswerHead, createInputWriter, type InputWriter, type Signed, sealed } from '../../../hub/index.ts';
import type { SignedEnvelope } from '../../../wire/index.ts';

type EmitBlockEvent = (name: string, event: Readonly<Record<string, unknown>>) => void;

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'toolUse';
  /** The package's. */
  readonly id: string;
  hasInput: boolean;
  /** Of a tool call, which has an object. */
  readonly input: InputWriter;
  /** Signature of thinking, or of the part beside it. */
  signed: Signed;
  readonly of?: SignedEnvelope['of'];
}

export type ConverseBlocks = ReturnType<typeof createConverseBlocks>;

export function createConverseBlocks(head: AnswerHead, emit: EmitBlockEvent) {
  let contentBlockIndex = -1;
  let open: OpenBlock | undefined;
  let outputBytes = 0;

  const emitDelta = (delta: object) => emit('contentBlockDelta', { contentBlockIndex, delta });

  function emitInput(input: string): void {
    if (input !== '') emitDelta({ toolUse: { input } });
  }

  function add(delta: object, text: string): void {
    if (text === '') return;
    outputBytes += Buffer.byteLength(text);
    emitDelta(delta);
  }

  function begin(kind: OpenBlock['kind'], id: string, signature?: Pick<OpenBlock, 'signed' | 'of'>): void {
    close();
    contentBlockIndex += 1;
    open = { kind, id, hasInput: false, input: createInputWriter(), signed: {}, ...signature };
  }

  function close(): void {
    if (open === undefined) return;
    const { kind, input, signed, of } = open;
    open = undefined;
    if (kind === 'toolUse') emitInput(input.end());
    if (kind === 'thinking') emitDelta({ reasoningContent: { signature: sealed(head, signed, of) } });
    emit('contentBlockStop', { contentBlockIndex });
  }

  const addText = (text: string) => add({ text }, text);

  return {
    open: () => open,
    outputBytes: () => outputBytes,
    close,
    begin,
    addText,
    addThinking: (text: string) => add({ reasoningContent: { text } }, text),
    /** A client knows by it that the model thinks, where it does not say what. */
    beginThinking(id: string, signature?: Pick<OpenBlock, 'signed' | 'of'>) {
      begin('thinking', id, signature);
      emitDelta({ reasoningContent: { text: '' } });
    },
    beginCall(id: string, toolUse: { readonly toolUseId: string; readonly name: string }) {
      begin('toolUse', id);
      outputBytes += Buffer.byteLength(toolUse.name);
      emit('contentBlockStart', { contentBlockIndex, start: { toolUse } });
    },
    /** Adds to the open call: others are over. */
    addInput(id: string, input: string) {
      if (input === '' || open?.kind !== 'toolUse' || open.id !== id) return;
      open.hasInput = true;
      outputBytes += Buffer.byteLength(input);
      emitInput(open.input.add(input));
    },
    /** Adds a text of the gateway's own. */
    addNote(text: string) {
      begin('text', '');
      emitDelta({ text });
      close();
    },
    /** The signature of a text or a call is a block of its own. */
    addSignature(signed: Signed, of: SignedEnvelope['of']) {
      begin('thinking', '', { signed, of });
      emitDelta({ reasoningContent: { text: '' } });
      close();
    },
  };
}
