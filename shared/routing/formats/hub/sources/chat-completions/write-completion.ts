// What a model answered, whole, as a `chat.completion`.
import type { LanguageModelV4Content, LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import { outputBytesOfMessage, readUsageReport } from '../../../../../protocol/interfaces/chat-completions/index.ts';
import { stringifyInTurns } from '../../../../../protocol/wire/index.ts';
import {
  type AnswerHead,
  base64Of,
  type HubResult,
  mediaMembers,
  phaseOf,
  sealed,
  tokensOf,
  type WrittenAnswer,
} from '../../middle/index.ts';
import type { ReasoningDetail } from './reasoning-details.ts';

export async function writeCompletion(
  result: HubResult,
  head: AnswerHead,
  nextStep: () => Promise<void>,
): Promise<WrittenAnswer> {
  const { content } = result;
  const calls = content.filter(isClientCall);
  const usage = toUsage(result.usage);
  const refusal = joinTexts(content.filter(isRefusal), 'text');
  const text =
    result.structuredOutputText ??
    joinTexts(
      content.filter((part) => !isRefusal(part)),
      'text',
    );
  const reasoning = joinTexts(content, 'reasoning');
  const details = detailsOf(content, head);
  const images = content.flatMap((part) => toImage(part, head));
  const reason = toFinishReason(result.finishReason, calls.length);
  const explanation = reason === 'content_filter' ? (head.refusalOf(result.providerMetadata) ?? null) : null;
  const message = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? explanation : refusal,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toToolCall(call, head)) }),
    ...(images.length === 0 ? {} : { images }),
  };
  const model = result.response?.modelId ?? head.model;
  const completion = {
    id: result.response?.id ?? head.id,
    object: 'chat.completion',
    created: head.createdSeconds,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
    ...(usage === undefined ? {} : { usage }),
  };
  return {
    text: await stringifyInTurns(completion, nextStep),
    usage: readUsageReport(usage),
    outputBytes: outputBytesOfMessage(message),
    finishReasons: [reason],
  };
}

/** A text that says why there is no answer: its target marks it. */
export const isRefusal = ({ providerMetadata }: Pick<LanguageModelV4Content, 'providerMetadata'>): boolean =>
  providerMetadata?.gw?.isRefusal === true;

type ToolCall = Extract<LanguageModelV4Content, { type: 'tool-call' }>;

/** What the provider ran itself is nothing for the client to run. */
const isClientCall = (part: LanguageModelV4Content): part is ToolCall =>
  part.type === 'tool-call' && part.providerExecuted !== true;

const joinTexts = (content: readonly LanguageModelV4Content[], type: 'text' | 'reasoning'): string =>
  content.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');

export function toToolCall({ toolCallId, toolName, input, providerMetadata }: ToolCall, head: AnswerHead) {
  const { signature } = head.readSigned(providerMetadata);
  const signed = signature === undefined ? undefined : sealed(head, { signature }, { call: toolCallId });
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input === '' ? '{}' : input },
    ...extraContent(signed),
  };
}

/** Where Google's own clients look for a signature. */
const extraContent = (signature: string | undefined): object =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

function detailsOf(content: readonly LanguageModelV4Content[], head: AnswerHead): ReasoningDetail[] {
  const { origin: format, readSigned } = head;
  const details: ReasoningDetail[] = [];
  for (const [at, part] of content.entries()) {
    const { signature, encrypted } = readSigned(part.providerMetadata);
    const common = { format, index: details.length };
    if (part.type === 'reasoning') {
      const signed = signature === undefined ? {} : { signature: sealed(head, { signature }) };
      if (part.text !== '' || encrypted === undefined)
        details.push({ type: 'reasoning.text', text: part.text, ...signed, ...common });
      if (encrypted !== undefined)
        details.push({
          type: 'reasoning.encrypted',
          data: sealed(head, { encrypted }),
          ...common,
          index: details.length,
        });
      const [last, phase] = [details.pop(), phaseOf(content[at + 1])];
      if (last !== undefined) details.push(phase === undefined ? last : { ...last, phase });
    } else if (signature !== undefined && part.type !== 'file') {
      const call = isClientCall(part) ? part.toolCallId : undefined;
      const data = sealed(head, { signature }, call === undefined ? 'text' : { call });
      details.push({ type: 'reasoning.encrypted', data, ...(call === undefined ? {} : { id: call }), ...common });
    }
  }
  return details;
}

/** In OpenRouter's shape: a chat completion has none of its own. */
export function toImage(part: LanguageModelV4Content, head: AnswerHead): object[] {
  const base64 = part.type === 'file' ? base64Of(part) : undefined;
  if (part.type !== 'file' || base64 === undefined) return [];
  const image = { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${base64}` } };
  const { signature } = head.readSigned(part.providerMetadata);
  return [{ ...image, ...extraContent(signature === undefined ? undefined : sealed(head, { signature })) }];
}

// What an answer has used, and why it ended, in the words of a chat completion.

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, calls: number): FinishReason {
  if (unified === 'length' || raw === 'model_context_window_exceeded') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'stop';
}

/** The input includes what came from a cache and what was written there. Undefined: nothing was reported, and the gateway estimates. */
export function toUsage(reported: LanguageModelV4Usage) {
  const tokens = tokensOf(reported);
  if (tokens === undefined) return undefined;
  const { input, output, cached, cacheWrite, cacheWrite1h, reasoning, media = {} } = tokens;
  return {
    ...(input === undefined ? {} : { prompt_tokens: input }),
    ...(output === undefined ? {} : { completion_tokens: output }),
    ...(input === undefined || output === undefined ? {} : { total_tokens: input + output }),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: cacheWrite,
      ...(cacheWrite1h > 0 ? { cache_write_1h_tokens: cacheWrite1h } : {}),
      ...mediaMembers(media.audioInput, media.imageInput),
    },
    completion_tokens_details: { reasoning_tokens: reasoning, ...mediaMembers(media.audioOutput, media.imageOutput) },
  };
}
