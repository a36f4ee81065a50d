// Reads the turn in a provider's own bytes with the AI SDK's package for its format.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { argsOf, type RecordedOutcome, type RecordedTurn } from '../support/recorded-turn.ts';
import type { RecordedAnswer, RecordedApi } from './recorded-answers.ts';

type Send = typeof fetch;
const apiKey = 'none';
const baseURL = 'http://recorded.invalid/v1';

const modelOf: Readonly<Record<RecordedApi, (send: Send) => LanguageModelV4>> = {
  'chat-completions': (send) =>
    createOpenAICompatible({ name: 'recorded', baseURL, fetch: send, includeUsage: true }).chatModel('recorded'),
  responses: (send) => createOpenAI({ apiKey, baseURL, fetch: send }).responses('recorded'),
  messages: (send) => createAnthropic({ apiKey, baseURL, fetch: send }).languageModel('recorded'),
  converse: (send) => createAmazonBedrock({ apiKey, baseURL, fetch: send }).languageModel('recorded'),
  'generate-content': (send) => createGoogle({ apiKey, baseURL, fetch: send }).languageModel('recorded'),
};

export async function readOriginal({
  api,
  isStream,
  status,
  contentType,
  bytes,
}: RecordedAnswer): Promise<RecordedOutcome> {
  const model = modelOf[api](
    async () => new Response(Buffer.from(bytes), { status, headers: { 'content-type': contentType } }),
  );
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];
  try {
    if (!isStream) {
      const { content, finishReason, usage } = await model.doGenerate({ prompt });
      return turnOf(content, finishReason.unified, usage);
    }
    const { stream } = await model.doStream({ prompt });
    return turnOfParts(await partsOf(stream));
  } catch (error) {
    return { error: (error as Error).message };
  }
}

async function partsOf(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

function turnOf(content: readonly LanguageModelV4Content[], end: string, usage: Finish['usage']): RecordedTurn {
  const textOf = (type: 'text' | 'reasoning') => content.map((part) => (part.type === type ? part.text : '')).join('');
  const calls = content.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted !== true
      ? [{ name: part.toolName, args: argsOf(part.input) }]
      : [],
  );
  const { inputTokens, outputTokens } = usage;
  return {
    text: textOf('text'),
    thinking: textOf('reasoning'),
    calls,
    end,
    tokens: {
      input: inputTokens.total ?? 0,
      cached: inputTokens.cacheRead ?? 0,
      output: (outputTokens.total ?? 0) + besideOutput(usage),
    },
  };
}

/**
 * Packages for chat completions take `completion_tokens` for all of the output; the total of the answer shows whether
 * reasoning comes on top.
 */
function besideOutput({ inputTokens, outputTokens, raw }: Finish['usage']): number {
  const { reasoning = 0 } = outputTokens;
  const parts = (inputTokens.total ?? 0) + (outputTokens.total ?? 0);
  return raw?.completion_tokens !== undefined && raw.total_tokens === parts + reasoning ? reasoning : 0;
}

function turnOfParts(parts: readonly LanguageModelV4StreamPart[]): RecordedOutcome {
  const failed = parts.find((part) => part.type === 'error');
  if (failed !== undefined) return { error: JSON.stringify(failed.error) };
  const finish = parts.find((part) => part.type === 'finish');
  if (finish === undefined) return { error: 'no end' };
  const content = parts.flatMap((part): LanguageModelV4Content[] => {
    if (part.type === 'text-delta') return [{ type: 'text', text: part.delta }];
    if (part.type === 'reasoning-delta') return [{ type: 'reasoning', text: part.delta }];
    return part.type === 'tool-call' ? [part] : [];
  });
  return turnOf(content, finish.finishReason.unified, finish.usage);
}
