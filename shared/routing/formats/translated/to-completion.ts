// What a model answered, whole, as the text of a `chat.completion`.
import type { LanguageModelV4Content, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { toFinishReason } from './finish-reason.ts';
import { type ReasoningDetail, readSigned, reasoningFormats } from './reasoning-details.ts';
import type { TranslatedApi } from './translated-api.ts';
import { toUsage } from './usage.ts';

/** What an answer says of itself. */
export interface AnswerHead {
  /** Where the provider gives its answer none. */
  readonly id: string;
  readonly createdSeconds: number;
  readonly model: string;
}

export function toCompletion(result: LanguageModelV4GenerateResult, head: AnswerHead, api: TranslatedApi): string {
  const { content } = result;
  const calls = content.filter(isClientCall);
  const usage = toUsage(result.usage);
  const text = result.structuredOutputText ?? joinTexts(content, 'text');
  const reasoning = joinTexts(content, 'reasoning');
  const details = detailsOf(content, reasoningFormats[api]);
  const images = content.flatMap(toImage);
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toToolCall) }),
    ...(images.length === 0 ? {} : { images }),
  };
  return JSON.stringify({
    id: result.response?.id ?? head.id,
    object: 'chat.completion',
    created: head.createdSeconds,
    model: result.response?.modelId ?? head.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: toFinishReason(result.finishReason, calls.length) }],
    ...(usage === undefined ? {} : { usage }),
  });
}

type ToolCall = Extract<LanguageModelV4Content, { type: 'tool-call' }>;

/** What the provider ran itself is nothing for the client to run. */
const isClientCall = (part: LanguageModelV4Content): part is ToolCall =>
  part.type === 'tool-call' && part.providerExecuted !== true;

const joinTexts = (content: readonly LanguageModelV4Content[], type: 'text' | 'reasoning'): string =>
  content.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');

export function toToolCall({ toolCallId, toolName, input, providerMetadata }: ToolCall) {
  const { signature } = readSigned(providerMetadata);
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input === '' ? '{}' : input },
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
  };
}

function detailsOf(content: readonly LanguageModelV4Content[], format: string): ReasoningDetail[] {
  const details: ReasoningDetail[] = [];
  for (const part of content) {
    const { signature, encrypted } = readSigned(part.providerMetadata);
    const common = { format, index: details.length };
    if (part.type === 'reasoning' && encrypted !== undefined) {
      details.push({ type: 'reasoning.encrypted', data: encrypted, ...common });
    } else if (part.type === 'reasoning') {
      const signed = signature === undefined ? {} : { signature };
      details.push({ type: 'reasoning.text', text: part.text, ...signed, ...common });
    } else if (signature !== undefined) {
      const id = isClientCall(part) ? { id: part.toolCallId } : {};
      details.push({ type: 'reasoning.encrypted', data: signature, ...id, ...common });
    }
  }
  return details;
}

/** In OpenRouter's shape: a chat completion has none of its own. */
export function toImage(part: LanguageModelV4Content): object[] {
  if (part.type !== 'file' || part.data.type !== 'data') return [];
  const { data } = part.data;
  const base64 = typeof data === 'string' ? data : Buffer.from(data).toString('base64');
  return [{ type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${base64}` } }];
}
