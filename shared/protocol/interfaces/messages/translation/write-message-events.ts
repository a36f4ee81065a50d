// Writes the parts of an answer as events of Messages: a client gets the events, or the message that they make.
import { once } from '../../../../foundation/cache/index.ts';
import { type AnswerHead, type HubPart, type PartOf, type ToolNames, tokensOf } from '../../../hub/index.ts';
import { openContentBlocks } from './content-blocks.ts';
import { createBlocks } from './message-blocks.ts';
import { messageEnd, messageStart, toUsage } from './message-object.ts';
import type { EmitEvent } from './message-types.ts';
import { openToolBlocks } from './tool-blocks.ts';

export function openMessageEvents(head: AnswerHead, names: ToolNames, emit: EmitEvent): (part: HubPart) => void {
  const start = once(() => emit({ type: 'message_start', message: messageStart(head) }));
  const blocks = createBlocks(head, (event) => {
    start();
    emit(event);
  });
  const content = openContentBlocks(head, blocks);
  const tools = openToolBlocks(head, names, blocks, content);

  function finish({ usage: reported, finishReason, providerMetadata }: PartOf<'finish'>): void {
    blocks.close();
    start();
    const tokens = tokensOf(reported);
    const outputBytes = blocks.outputBytes();
    const usage = toUsage(tokens, { inputTokens: head.estimatedInputTokens, outputBytes });
    const { cache_creation: _periods, ...counts } = usage;
    const delta = { ...messageEnd(finishReason, tools.calls(), providerMetadata), container: null };
    const report = tokens && { tokens, members: { ...usage } };
    emit({ type: 'message_delta', delta, usage: { ...counts, server_tool_use: null } }, { report, outputBytes });
    emit({ type: 'message_stop' });
  }

  return (part) => {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return content.addText(part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return content.addReasoning(part);
      case 'file':
        return content.addPlaceless(part);
      case 'tool-input-start':
        return part.providerExecuted === true ? undefined : tools.begin(part, part.id);
      case 'tool-input-delta':
        return tools.addArguments(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted === true ? undefined : tools.end(part);
      case 'finish':
        return finish(part);
    }
  };
}
