// Tool calls of an answer as blocks: in pieces, or whole.
import { type AnswerHead, clientCallId, isSigned, type PartOf, type ToolNames } from '../../../hub/index.ts';
import type { ContentBlocks } from './content-blocks.ts';
import type { Blocks } from './message-blocks.ts';

export function openToolBlocks(head: AnswerHead, names: ToolNames, blocks: Blocks, content: ContentBlocks) {
  /** Calls that have begun, and are not whole. */
  const begun = new Set<string>();
  let calls = 0;

  function begin(part: PartOf<'tool-input-start'> | PartOf<'tool-call'>, id: string): void {
    const signed = head.readSigned(part.providerMetadata);
    const clientId = clientCallId(head.id, id);
    content.addSignatureBeforeCall();
    if (isSigned(signed)) blocks.addSignature(signed, { call: clientId });
    begun.add(id);
    calls += 1;
    const name = names.long(part.toolName);
    blocks.begin(id, { type: 'tool_use', id: clientId, name, input: {}, caller: { type: 'direct' } });
  }

  return {
    begin,
    addArguments: blocks.addArguments,
    end(part: PartOf<'tool-call'>): void {
      const { toolCallId: id } = part;
      if (!begun.has(id)) begin(part, id);
      begun.delete(id);
      const open = blocks.open();
      if (open?.kind !== 'tool_use' || open.id !== id) return;
      if (!open.hasArguments) blocks.addArguments(id, part.input);
      blocks.close();
    },
    calls: () => calls,
  };
}
