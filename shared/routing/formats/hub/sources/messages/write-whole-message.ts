// What a model answered, whole, as a message.
import type { LanguageModelV4Content } from '@ai-sdk/provider';
import { stringifyInTurns } from '../../../../../protocol/wire/index.ts';
import {
  type AnswerHead,
  clientCallId,
  contentOf,
  type HubResult,
  isSigned,
  phaseOf,
  sealed,
  type ToolNames,
  tokensOf,
  type WrittenAnswer,
} from '../../middle/index.ts';
import { messageEnd, messageHead, toUsage, wholeUsage } from './message-object.ts';
import { inputText } from './tool-input.ts';

export async function writeMessage(
  result: HubResult,
  head: AnswerHead,
  names: ToolNames,
  nextStep: () => Promise<void>,
): Promise<WrittenAnswer> {
  const content = contentOf(result);
  const calls = content.filter((part) => part.type === 'tool-call').length;
  const blocks: string[] = [];
  for (const block of content.flatMap((part, at) => blocksOf(part, phaseOf(content[at + 1]), head, names))) {
    blocks.push(typeof block === 'string' ? block : await stringifyInTurns(block, nextStep));
  }
  const outputBytes = content.reduce((sum, part) => sum + bytesOf(part), 0);
  const tokens = tokensOf(result.usage);
  const usage = toUsage(tokens, { inputTokens: head.estimatedInputTokens, outputBytes });
  const end = messageEnd(result.finishReason, calls, result.providerMetadata);
  const rest = {
    ...end,
    usage: wholeUsage(usage),
    container: null,
    diagnostics: null,
  };
  const messageOpening = messageHead(head);
  const opening = JSON.stringify(messageOpening).slice(0, -1);
  return {
    text: `${opening},"content":[${blocks.join(',')}],${JSON.stringify(rest).slice(1)}`,
    usage: tokens && { tokens, members: { ...usage } },
    outputBytes,
    model: result.response?.modelId ?? head.model,
    finishReasons: [end.stop_reason],
    storedIds: [messageOpening.id],
  };
}

function bytesOf(part: LanguageModelV4Content): number {
  if (part.type === 'tool-call') return Buffer.byteLength(part.input) + Buffer.byteLength(part.toolName);
  return part.type === 'text' || part.type === 'reasoning' ? Buffer.byteLength(part.text) : 0;
}

/** Those of calls are texts: arguments are written as the model wrote them. `phase`: of the text that comes next. */
function blocksOf(
  part: LanguageModelV4Content,
  phase: string | undefined,
  head: AnswerHead,
  names: ToolNames,
): (object | string)[] {
  const signed = head.readSigned(part.providerMetadata);
  if (part.type === 'reasoning') {
    return [thinkingBlock(part.text, sealed(head, { ...signed, ...(phase === undefined ? {} : { phase }) }))];
  }
  if (part.type === 'text') {
    if (part.text === '') return [];
    const text = { type: 'text', text: part.text, citations: null };
    // Clients take the last block for what is said.
    return isSigned(signed) ? [thinkingBlock('', sealed(head, signed, 'text')), text] : [text];
  }
  if (part.type === 'file') return [{ type: 'text', text: placeless(part.mediaType), citations: null }];
  if (part.type !== 'tool-call') return [];
  const id = clientCallId(head.id, part.toolCallId);
  const before = isSigned(signed) ? [thinkingBlock('', sealed(head, signed, { call: id }))] : [];
  return [...before, callText(id, names.long(part.toolName), part.input)];
}

/** What the client is told of an image: its interface has no place for one. */
export const placeless = (mediaType: string): string =>
  `[The model answered with a file (${mediaType}), which this interface has no place for.]`;

export const thinkingBlock = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature });

const callText = (id: string, name: string, input: string): string => {
  const opening = JSON.stringify({ type: 'tool_use', id, name, caller: { type: 'direct' } }).slice(0, -1);
  return `${opening},"input":${inputText(input)}}`;
};
