// Translates calls to OpenAI's Responses.
import { OpenAIResponsesLanguageModel } from '@ai-sdk/openai/internal';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isOpenAiReasoningModel } from '../../../../configuration/catalogue/index.ts';
import { responsesOutputMinTokens } from '../../../../foundation/constants/index.ts';
import { type HubCall, type HubPart, imagesOfUser } from '../../../../protocol/hub/index.ts';
import { readResponseUsage } from '../../../../protocol/interfaces/responses/index.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';
import { readInPieces } from './answer-pieces.ts';
import { atMost, nonEmpty, read as readMember } from './body-members.ts';
import type { HubTarget, TargetCall } from './hub-target.ts';
import { callOptions, isStrictFormat, withJsonWord, withOwnSchemas } from './json-format.ts';
import { knowsMarks, openAiCacheOptions, withOpenAiMarks } from './openai-cache-marks.ts';
import { openAiUsageIn } from './openai-usage.ts';
import { carriedNames, joinFields, knowsVerbosity, openAiFields } from './optional-fields.ts';
import { withFailuresInWords } from './plain-prompt.ts';
import { outputPieces, readableResponse, refusalIdPrefix } from './responses-answer.ts';
import { responseEvents } from './responses-events.ts';
import { openAiStrictness } from './strict-schemas.ts';

export const target: HubTarget = {
  openModel: ({ packageModel, baseURL, generateId, ...settings }) =>
    withOwnParts(
      readInPieces(
        settings,
        outputPieces,
        (fetch) =>
          new OpenAIResponsesLanguageModel(packageModel, {
            provider: 'openai',
            url: ({ path }) => baseURL + path,
            headers: () => ({}),
            fetch,
            generateId,
          }),
      ),
    ),
  toOptions(target) {
    const call = withOpenAiMarks(withJsonWord(target.call), target.names);
    const { stopSequences: _untold, ...options } = callOptions({ ...target, call: withOwnSchemas(call) });
    return {
      ...options,
      prompt: imagesOfUser(withFailuresInWords(withWholeReasoning(call.prompt))),
      providerOptions: { openai: packageOptions(target, call) },
    } as LanguageModelV4CallOptions;
  },
  finalChanges: (body, { call, outputMaxTokens, thinking }) => ({
    max_output_tokens: Math.max(
      atMost(readMember(body, 'max_output_tokens'), outputMaxTokens),
      responsesOutputMinTokens,
    ),
    reasoning: thinkingOptions(thinking),
    ...joinFields(openAiFields(call)),
  }),
  supportedOptions: ({ call, names }) =>
    new Set([
      ...carriedNames(openAiFields(call)),
      'image_detail',
      ...(knowsMarks(names) ? (['cache_marks', 'cache_options'] as const) : []),
    ]),
  strictness: openAiStrictness,
  streamType: 'text/event-stream',
  readStream: responseEvents,
  answerSteps: [readableResponse],
  usageIn: (text) => openAiUsageIn(text, readResponseUsage),
  unsupportedStops: ({ call }) => call.stopSequences ?? [],
  // Encrypted text is bound to the account too.
  originOf: ({ model, provider }) => `openai-responses-v1:${provider.id}:${model}`,
  readSigned: ({ gw = {} } = {}) => ({
    ...nonEmpty('signature', gw.signature),
    ...nonEmpty('encrypted', gw.encrypted),
  }),
  signedOptions(part, { signature, encrypted, phase }) {
    if (part === 'text') return phase === undefined ? undefined : { openai: { phase } };
    if (part !== 'reasoning') return undefined;
    if (encrypted === undefined) return signature === undefined ? undefined : { openai: { itemId: signature } };
    const read = readEncrypted(encrypted);
    return read && { openai: { itemId: read.itemId, reasoningEncryptedContent: read.content } };
  },
};

function packageOptions(
  { names, reasoning, thinking }: TargetCall,
  call: HubCall,
): Record<string, string | boolean | string[] | JsonObject> {
  const isThinker = isOpenAiReasoningModel(...names);
  return {
    // The client stores the conversation, and sends the model's thinking again.
    store: false,
    forceReasoning: isThinker,
    ...(reasoning.kind === 'effort' ? { include: ['reasoning.encrypted_content'] } : {}),
    // Only then do some models accept a temperature.
    ...(isThinker && thinking?.kind === 'off' ? { reasoningEffort: 'none' } : {}),
    ...(call.parallelToolCalls === undefined ? {} : { parallelToolCalls: call.parallelToolCalls }),
    strictJsonSchema: isStrictFormat(call),
    passThroughUnsupportedFiles: true,
    ...optionalOptions(call, names),
  };
}

function optionalOptions({ optional }: HubCall, names: readonly string[]): Record<string, string | JsonObject> {
  const options: Record<string, string | JsonObject> = {};
  for (const { name, value } of optional) {
    if (name === 'cache_options' && isJsonObject(value) && knowsMarks(names))
      options.promptCacheOptions = openAiCacheOptions(value);
    if (name === 'verbosity' && typeof value === 'string' && knowsVerbosity(names)) options.textVerbosity = value;
  }
  return options;
}

function thinkingOptions(thinking: TargetCall['thinking']): JsonObject | undefined {
  if (thinking === undefined) return undefined;
  if (thinking.kind === 'off') return { effort: 'none' };
  if (!('effort' in thinking)) return undefined;
  // Without this option models hide their thinking.
  return { effort: thinking.effort, ...(thinking.isLeast ? {} : { summary: 'auto' }) };
}

/**
 * Moves the encrypted text of a reasoning item, which is in its last part. Without the encrypted text the item is
 * useless to its provider.
 */
function withWholeReasoning(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const whole = new Set(
    prompt.flatMap(({ content }) =>
      typeof content === 'string'
        ? []
        : content.flatMap(({ providerOptions }) => {
            const { itemId, reasoningEncryptedContent: encrypted } = providerOptions?.openai ?? {};
            return encrypted === undefined ? [] : [itemId];
          }),
    ),
  );
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== 'assistant') return [message];
    const content = message.content.filter(
      (part) => part.type !== 'reasoning' || whole.has(part.providerOptions?.openai?.itemId),
    );
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

// Completes the output of Responses from its package with the refusals, the encrypted thinking, and whether the answer
// is complete.

type Metadata = SharedV4ProviderMetadata | undefined;

/** Wraps the package's own model, so that the model's requests and answers pass through here. */
const withOwnParts = (model: LanguageModelV4): LanguageModelV4 => ({
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  async doGenerate(options) {
    const result = await model.doGenerate(options);
    const content = result.content.map((part, place) => ownContent(part, result.content[place + 1]));
    const hasRefused = content.some(({ providerMetadata }) => providerMetadata?.gw?.isRefusal === true);
    return { ...result, content, finishReason: ownEnd(result.finishReason, hasRefused) };
  },
  async doStream(options) {
    const result = await model.doStream(options);
    let hasRefused = false;
    const transform = new TransformStream<HubPart, HubPart>({
      transform(part, controller) {
        if (part.type === 'text-start' && isRefusal(part.id)) hasRefused = true;
        controller.enqueue(
          part.type === 'finish' ? { ...part, finishReason: ownEnd(part.finishReason, hasRefused) } : ownPart(part),
        );
      },
    });
    return { ...result, stream: result.stream.pipeThrough(transform) };
  },
});

const isRefusal = (id: unknown): boolean => typeof id === 'string' && id.startsWith(refusalIdPrefix);

/** Returns the end; only an answer that was cut off states why it ended. */
function ownEnd({ unified, raw }: LanguageModelV4FinishReason, hasRefused: boolean): LanguageModelV4FinishReason {
  if (unified === 'interrupted' || raw !== undefined) return { unified, raw };
  return { unified: hasRefused && unified === 'stop' ? 'content-filter' : unified, raw: 'completed' };
}

const itemIdOf = (metadata: Metadata): unknown => metadata?.openai?.itemId;

/** Converts a content. `next` is the part after it, because the last part of an item has its encrypted text. */
function ownContent(part: LanguageModelV4Content, next: LanguageModelV4Content | undefined): LanguageModelV4Content {
  const { providerMetadata: metadata, ...plain } = part;
  if (part.type === 'reasoning') {
    const isLast = next?.type !== 'reasoning' || itemIdOf(next.providerMetadata) !== itemIdOf(metadata);
    return { ...part, providerMetadata: ownReasoning(metadata, isLast) };
  }
  return { ...plain, ...(part.type === 'text' ? ownText(itemIdOf(metadata), metadata) : {}) } as LanguageModelV4Content;
}

function ownPart(part: HubPart): HubPart {
  if (part.type === 'reasoning-end') return { ...part, providerMetadata: ownReasoning(part.providerMetadata, true) };
  if (part.type === 'text-start' || part.type === 'text-delta' || part.type === 'text-end') {
    const { providerMetadata: metadata, ...plain } = part;
    return { ...plain, ...ownText(part.id, metadata) };
  }
  if (!('providerMetadata' in part)) return part;
  const { providerMetadata: _metadata, ...plain } = part;
  return plain as HubPart;
}

/** Converts a text to the hub's metadata. */
function ownText(id: unknown, metadata: Metadata): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  const phase = metadata?.openai?.phase;
  const partMetadata = {
    ...(isRefusal(id) ? { isRefusal: true } : {}),
    ...(typeof phase === 'string' ? { phase } : {}),
  };
  return Object.keys(partMetadata).length === 0 ? {} : { providerMetadata: { gw: partMetadata } };
}

function ownReasoning(metadata: Metadata, isLast: boolean): SharedV4ProviderMetadata {
  const { itemId, reasoningEncryptedContent: encrypted } = metadata?.openai ?? {};
  if (typeof itemId !== 'string') return {};
  const isEncrypted = isLast && typeof encrypted === 'string' && encrypted !== '';
  return { gw: { signature: itemId, ...(isEncrypted ? { encrypted: `${itemId}${idEnd}${encrypted}` } : {}) } };
}

/** Separates the encrypted text from the id of its item. Ids never contain this character. */
const idEnd = ':';

/** Returns undefined for a text that another provider has encrypted. */
function readEncrypted(text: string): { readonly itemId: string; readonly content: string } | undefined {
  const end = text.indexOf(idEnd);
  return end <= 0 ? undefined : { itemId: text.slice(0, end), content: text.slice(end + 1) };
}
