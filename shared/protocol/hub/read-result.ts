// Reads images and usage from an answer.
import type { LanguageModelV4File, LanguageModelV4Usage } from '@ai-sdk/provider';
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type MediaTokens,
  mediaIn,
  partsWithin,
  type TokenReport,
  toCount,
  tokensMax,
} from '../wire/index.ts';

/** Returns undefined for data at a URL. */
export function base64Of({ data: content }: LanguageModelV4File): string | undefined {
  if (content.type !== 'data') return undefined;
  const { data } = content;
  return typeof data === 'string' ? data : Buffer.from(data).toString('base64');
}

/** Returns undefined when the provider reported nothing, so that the gateway estimates. */
export function tokensOf(reported: LanguageModelV4Usage): TokenReport | undefined {
  const { inputTokens, outputTokens } = reported;
  const [input, output] = [toCount(inputTokens.total), toCount(outputTokens.total)];
  if (input === undefined && output === undefined) return undefined;
  const parts = { cached: toCount(inputTokens.cacheRead) ?? 0, ...cacheWritesOf(reported) };
  const reasoning = toCount(outputTokens.reasoning) ?? 0;
  // Tokens count as they are billed, because some interfaces report the input without its cached parts.
  const addedReasoning = addedReasoningOf(reported);
  return {
    ...{ input, output, ...partsWithin(input ?? tokensMax, parts), reasoning, media: mediaOf(reported) },
    ...(addedReasoning === undefined ? {} : { addedReasoning }),
  };
}

/** Detail of the output that a package passes on. It marks reasoning that was counted in addition to the output. */
export const reasoningAdded = 'gw_reasoning_added';

function addedReasoningOf({ raw }: LanguageModelV4Usage): number | undefined {
  const details = isJsonObject(raw) ? raw.completion_tokens_details : undefined;
  return isJsonObject(details) ? toCount(details[reasoningAdded]) : undefined;
}

/**
 * Reads media tokens, which no package reads. OpenAI's formats have them in details, and Gemini has them by modality.
 */
function mediaOf({ raw }: LanguageModelV4Usage): MediaTokens {
  if (!isJsonObject(raw)) return {};
  const { promptTokensDetails: prompt, toolUsePromptTokensDetails: tools, cacheTokensDetails: cached } = raw;
  const input = (modality: string) =>
    Math.max(0, countOf(prompt, modality) + countOf(tools, modality) - countOf(cached, modality));
  const output = (modality: string) => countOf(raw.candidatesTokensDetails, modality);
  if (Array.isArray(prompt) || Array.isArray(raw.candidatesTokensDetails)) {
    return {
      audioInput: input('AUDIO'),
      imageInput: input('IMAGE'),
      audioOutput: output('AUDIO'),
      imageOutput: output('IMAGE'),
    };
  }
  return mediaIn(
    raw.prompt_tokens_details ?? raw.input_tokens_details,
    raw.completion_tokens_details ?? raw.output_tokens_details,
  );
}

/** Returns details of a usage for a client, without counts that are zero. */
export const mediaMembers = (audio = 0, image = 0) => ({
  ...(audio > 0 ? { audio_tokens: audio } : {}),
  ...(image > 0 ? { image_tokens: image } : {}),
});

const countOf = (details: unknown, modality: string): number =>
  (Array.isArray(details) ? details : [])
    .filter((one) => isJsonObject(one) && one.modality === modality)
    .reduce((sum, { tokenCount }) => sum + (toCount(tokenCount) ?? 0), 0);

/**
 * Reads cache writes, of which packages read only the sum. They are in `cache_creation` of Anthropic, in `cacheDetails`
 * of Bedrock, and in the details of OpenAI's formats.
 */
function cacheWritesOf({ inputTokens, raw }: LanguageModelV4Usage): Pick<TokenReport, 'cacheWrite' | 'cacheWrite1h'> {
  const members: JsonObject = isJsonObject(raw) ? raw : {};
  const {
    cache_creation: creation,
    cacheDetails,
    prompt_tokens_details: prompt,
    input_tokens_details: input,
  } = members;
  const details = [prompt, input].find(isJsonObject) ?? {};
  const cacheWrite = toCount(inputTokens.cacheWrite) ?? toCount(details.cache_write_tokens) ?? 0;
  const hour =
    toCount(isJsonObject(creation) ? creation.ephemeral_1h_input_tokens : details.cache_write_1h_tokens) ??
    hourIn(cacheDetails);
  return { cacheWrite, cacheWrite1h: Math.min(cacheWrite, hour) };
}

const hourIn = (details: unknown): number =>
  (Array.isArray(details) ? details : [])
    .filter((one) => isJsonObject(one) && one.ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + (toCount(inputTokens) ?? 0), 0);

/**
 * Bytes of text per token. It is usually four; the number is lower, because a client that plans by the count needs a
 * high estimate.
 */
const bytesPerToken = 3;

/** Estimates the count for an interface that reports it if the provider did not. */
export const estimatedOutputTokens = (outputBytes: number): number => Math.ceil(outputBytes / bytesPerToken);

/**
 * Returns a whole answer for a package, which decodes a long answer piece by piece, and parses the answer after the
 * last piece.
 */
export const jsonResponse = (text: string): Response =>
  new Response(text.length > inOneTurn.passedBytes ? inPieces(Buffer.from(text)) : text, {
    headers: { 'content-type': 'application/json' },
  });

function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await nextTurn();
      if (at >= bytes.length) {
        controller.close();
        return;
      }
      controller.enqueue(bytes.subarray(at, at + inOneTurn.passedBytes));
      at += inOneTurn.passedBytes;
    },
  });
}
