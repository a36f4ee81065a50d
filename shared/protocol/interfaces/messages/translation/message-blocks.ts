// The blocks of a message. One is open at a time: where the next one begins, it ends.

import { type AnswerHead, createInputWriter, type InputWriter, type Signed, sealed } from '../../../hub/index.ts';
import type { SignedEnvelope } from '../../../wire/index.ts';
import type { BlockDelta, MessageBlock, MessageEvent } from './message-types.ts';

interface OpenBlock {
  readonly kind: MessageBlock['type'];
  /** The package's. */
  readonly id: string;
  hasArguments: boolean;
  /** Input of a tool call. */
  readonly input: InputWriter;
  /** Signature of thinking, or of the part beside it. */
  signed: Signed;
  readonly of?: SignedEnvelope['of'];
}

export type Blocks = ReturnType<typeof createBlocks>;

export function createBlocks(head: AnswerHead, emit: (event: MessageEvent) => void) {
  let index = -1;
  let open: OpenBlock | undefined;
  let outputBytes = 0;

  const emitDelta = (delta: BlockDelta) => emit({ type: 'content_block_delta', index, delta });

  function add(delta: BlockDelta, text: string): void {
    if (text === '') return;
    outputBytes += Buffer.byteLength(text);
    emitDelta(delta);
  }

  function addInput(input: string): void {
    if (input !== '') emitDelta({ type: 'input_json_delta', partial_json: input });
  }

  function begin(id: string, block: MessageBlock, extras?: Pick<OpenBlock, 'signed' | 'of'>): void {
    close();
    index += 1;
    open = { kind: block.type, id, hasArguments: false, input: createInputWriter(), signed: {}, ...extras };
    if (block.type === 'tool_use') outputBytes += Buffer.byteLength(block.name);
    emit({ type: 'content_block_start', index, content_block: block });
  }

  function close(): void {
    if (open === undefined) return;
    const { kind, input, signed, of } = open;
    open = undefined;
    if (kind === 'thinking') emitDelta({ type: 'signature_delta', signature: sealed(head, signed, of) });
    if (kind === 'tool_use') addInput(input.end());
    emit({ type: 'content_block_stop', index });
  }

  const beginText = (id: string) => begin(id, { type: 'text', text: '', citations: null });
  const beginThinking = (id: string, extras?: Pick<OpenBlock, 'signed' | 'of'>) =>
    begin(id, { type: 'thinking', thinking: '', signature: '' }, extras);
  const addText = (text: string) => add({ type: 'text_delta', text }, text);
  const addThinking = (thinking: string) => add({ type: 'thinking_delta', thinking }, thinking);

  /** Adds to the open call: others are over. */
  function addArguments(id: string, delta: string): void {
    if (delta === '' || open?.kind !== 'tool_use' || open.id !== id) return;
    open.hasArguments = true;
    outputBytes += Buffer.byteLength(delta);
    addInput(open.input.add(delta));
  }

  /** Adds a text of the gateway's own. */
  function addNote(text: string): void {
    beginText('');
    emitDelta({ type: 'text_delta', text });
    close();
  }

  /** The signature of a text or a call is a block of its own. */
  function addSignature(signed: Signed, of: SignedEnvelope['of']): void {
    beginThinking('', { signed, of });
    close();
  }

  return {
    open: () => open,
    outputBytes: () => outputBytes,
    begin,
    beginText,
    beginThinking,
    addText,
    addThinking,
    addArguments,
    addNote,
    addSignature,
    close,
  };
}
