// The blocks of a streamed message. One is open at a time: where the next one begins, it ends.
import type { AnswerEvent } from '../../../../../protocol/interfaces/index.ts';
import { writtenEvent } from '../../../../../protocol/interfaces/messages/index.ts';
import type { SignedEnvelope } from '../../../../../protocol/wire/index.ts';
import { type AnswerHead, type Signed, sealed } from '../../middle/index.ts';
import { createInputWriter, type InputWriter } from './tool-input.ts';
import { thinkingBlock } from './write-whole-message.ts';

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'tool_use';
  /** The package's. */
  readonly id: string;
  hasArguments: boolean;
  /** Of a call. */
  readonly input: InputWriter;
  /** Of thinking: what was signed of it, or of what stands beside it. */
  signed: Signed;
  readonly of?: SignedEnvelope['of'];
}

export function createBlocks(head: AnswerHead, emit: (event: AnswerEvent) => void) {
  let index = -1;
  let open: OpenBlock | undefined;

  const write = (type: string, members: object) => emit(writtenEvent({ type, index, ...members }));
  const add = (delta: object) => write('content_block_delta', { delta });

  function begin(kind: OpenBlock['kind'], id: string, block: object, own?: Pick<OpenBlock, 'signed' | 'of'>): void {
    close();
    index += 1;
    open = { kind, id, hasArguments: false, input: createInputWriter(), signed: {}, ...own };
    write('content_block_start', { content_block: block });
  }

  function close(): void {
    if (open === undefined) return;
    const { kind, input, signed, of } = open;
    open = undefined;
    if (kind === 'thinking') add({ type: 'signature_delta', signature: sealed(head, signed, of) });
    if (kind === 'tool_use') addInput(input.end());
    write('content_block_stop', {});
  }

  function addInput(text: string): void {
    if (text !== '') add({ type: 'input_json_delta', partial_json: text });
  }

  /** A signature that belongs to a text or a call stands in a block of its own. */
  function addSignature(signed: Signed, of: SignedEnvelope['of']): void {
    begin('thinking', '', thinkingBlock('', ''), { signed, of });
    close();
  }

  return { open: () => open, begin, add, addInput, close, addSignature };
}
