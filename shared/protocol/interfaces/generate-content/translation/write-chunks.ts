// Writes the parts of an answer as chunks of Gemini's stream. A client gets the chunks, or the answer that is assembled
// from them.
import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import {
  type AnswerHead,
  base64Of,
  clientCallId,
  estimatedOutputTokens,
  type HubPart,
  type PartOf,
  phaseOf,
  type SignedThinking,
  sealSigned,
  type ToolNames,
  tokensOf,
} from '../../../hub/index.ts';
import {
  encodeEnvelope,
  isJsonObject,
  type JsonObject,
  parseInnerJson,
  type TokenReport,
  type UsageReport,
} from '../../../wire/index.ts';
import { openChunkWriter } from '../chunk-writer.ts';
import { sealCall, type Thought } from './call-thoughts.ts';

export interface Written {
  readonly report: UsageReport | undefined;
  readonly outputBytes: number;
}

/** Sends a chunk. `written` is set with the last chunk. */
type EmitChunk = (chunk: JsonObject, written?: Written) => void;

export function openChunks(head: AnswerHead, names: ToolNames, emit: EmitChunk): (part: HubPart) => void {
  const about = { modelVersion: head.clientModel, responseId: head.id };
  let outputBytes = 0;
  let written: Written | undefined;
  const { add, end } = openChunkWriter(
    (chunk) => emit(chunk, written),
    () => about,
  );
  const count = (text: string): void => {
    outputBytes += Buffer.byteLength(text);
  };
  const thinking = openThinking(head, add, count);

  function addText(part: PartOf<'text-start' | 'text-delta' | 'text-end'>): void {
    thinking.end();
    const phase = part.type === 'text-end' ? phaseOf(part) : undefined;
    if (part.type === 'text-delta' && part.delta !== '') {
      count(part.delta);
      add({ text: part.delta });
    }
    if (phase !== undefined)
      add({ text: '', thoughtSignature: encodeEnvelope(sealSigned(head, { phase }, 'text_before')) });
  }

  function addCall(part: PartOf<'tool-call'>): void {
    if (part.providerExecuted === true) return;
    thinking.end();
    const signatureOfCall = head.readSigned(part.providerMetadata);
    const id = clientCallId(head.id, part.toolCallId);
    const input = parseInnerJson(part.input)?.value;
    count(part.toolName);
    count(part.input);
    const envelope = sealCall(head, id, signatureOfCall, thinking.sinceLastCall());
    const functionCall = { id, name: names.long(part.toolName), args: isJsonObject(input) ? input : {} };
    add({ functionCall, ...(envelope === undefined ? {} : { thoughtSignature: encodeEnvelope(envelope) }) });
  }

  function finish({ usage, finishReason, providerMetadata }: PartOf<'finish'>): void {
    thinking.end();
    const tokens = tokensOf(usage);
    const finishMessage = head.refusalOf(providerMetadata);
    const usageMetadata = toUsage(tokens, { inputTokens: head.estimatedInputTokens, outputBytes });
    written = { report: tokens && { tokens, members: usageMetadata }, outputBytes };
    const explained = finishMessage === undefined ? {} : { finishMessage };
    end({ finishReason: toFinishReason(finishReason), ...explained }, usageMetadata);
  }

  return (part) => {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return addText(part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return thinking.add(part);
      case 'tool-call':
        return addCall(part);
      case 'file': {
        const data = base64Of(part);
        thinking.end();
        return data === undefined ? undefined : add({ inlineData: { mimeType: part.mediaType, data } });
      }
      case 'finish':
        return finish(part);
    }
  };
}

/** Writes thoughts as separate parts. The last part, without text, has the signature. */
function openThinking(head: AnswerHead, add: (part: JsonObject) => void, count: (text: string) => void) {
  let open: (SignedThinking & { readonly id: string; text: string }) | undefined;
  let thoughts: Thought[] = [];

  function end(): void {
    if (open === undefined) return;
    const { id: _id, text, ...signed } = open;
    open = undefined;
    thoughts.push({ text, ...signed });
    add({ text: '', thought: true, thoughtSignature: encodeEnvelope(sealSigned(head, signed)) });
  }

  return {
    end,
    add(part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>): void {
      if (open !== undefined && open.id !== part.id) end();
      if (open === undefined && part.type === 'reasoning-end') return;
      open = { ...(open ?? { id: part.id, text: '' }), ...head.readSigned(part.providerMetadata) };
      if (part.type !== 'reasoning-delta' || part.delta === '') return;
      open.text += part.delta;
      count(part.delta);
      add({ text: part.delta, thought: true });
    },
    sinceLastCall(): readonly Thought[] {
      const before = thoughts;
      thoughts = [];
      return before;
    },
  };
}

function toFinishReason({ unified, raw }: LanguageModelV4FinishReason): string {
  if (unified === 'length' || raw === 'model_context_window_exceeded') return 'MAX_TOKENS';
  return unified === 'content-filter' ? 'SAFETY' : 'STOP';
}

interface Estimates {
  readonly inputTokens: () => number;
  readonly outputBytes: number;
}

/**
 * Returns the counts of Google's interface, where thoughts are in addition to the output, and cached tokens are a part
 * of the prompt.
 */
function toUsage(tokens: TokenReport | undefined, estimates: Estimates) {
  const { input = Math.max(1, estimates.inputTokens()), output = estimatedOutputTokens(estimates.outputBytes) } =
    tokens ?? {};
  const { cached = 0, reasoning = 0, media = {} } = tokens ?? {};
  const thoughts = Math.min(reasoning, output);
  const details = (whole: number, audio = 0, image = 0) =>
    [
      { modality: 'TEXT', tokenCount: Math.max(0, whole - audio - image) },
      { modality: 'AUDIO', tokenCount: audio },
      { modality: 'IMAGE', tokenCount: image },
    ].filter(({ modality, tokenCount }) => modality === 'TEXT' || tokenCount > 0);
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - thoughts,
    totalTokenCount: input + output,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    promptTokensDetails: details(input, media.audioInput, media.imageInput),
    ...((media.audioOutput ?? 0) + (media.imageOutput ?? 0) > 0
      ? { candidatesTokensDetails: details(output - thoughts, media.audioOutput, media.imageOutput) }
      : {}),
  };
}
