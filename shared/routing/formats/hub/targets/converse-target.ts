// Translates calls to Amazon Bedrock's Converse.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import type { Thinking } from '../../../../configuration/catalogue/index.ts';
import { frameStreamType, upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { partsOfFrame, splitFrames, withFrameText } from '../../../../protocol/event-frames/index.ts';
import { type HubCall, impliedFinishReason, type OptionalName } from '../../../../protocol/hub/index.ts';
import { findMember, isJsonObject, type JsonObject, type JsonText, toCount } from '../../../../protocol/wire/index.ts';
import { atMost, type Bytes, claudeOrigin, nonEmpty, read, readObject } from './body-members.ts';
import { claudeCall, claudeOptions, claudeThinking } from './claude-thinking.ts';
import {
  callsAsText,
  failedCalls,
  ruledResults,
  withDocuments,
  withFailures,
  withResultTexts,
} from './converse-prompt.ts';
import type { EmbeddingTarget, HubTarget, ImageTarget, RerankTarget, TargetCall } from './hub-target.ts';
import { reportedUsage, type UsageShape, withReadableUsage } from './readable-usage.ts';
import { claudeStrictness } from './strict-schemas.ts';

/** Fields of the usage of a whole answer, and of the frame that reports it. */
const converseUsage: UsageShape = {
  member: 'usage',
  required: ['inputTokens', 'outputTokens', 'totalTokens'],
  optionalCounts: [],
  subtotals: ['cacheReadInputTokens', 'cacheWriteInputTokens'],
  isUsageRequired: true,
};

/**
 * Signature of empty thinking. The package drops empty thinking, but not its signature. No model makes this signature.
 */
const emptyThinkingSignature = 'gw-empty-thinking';
const emptyThinking = /"reasoningContent"\s*:\s*\{\s*(?:"text"\s*:\s*""\s*)?\}/;
const withThinkingBegun = (text: string): string =>
  text.replace(emptyThinking, `"reasoningContent":{"signature":"${emptyThinkingSignature}"}`);

/**
 * Matches pieces of blocks that the package knows. The package ends the stream for any other block, and no other block
 * adds anything that was requested.
 */
const knownPiece = /"delta"\s*:\s*\{\s*"(text|toolUse|reasoningContent|citation)"/;
const anyPiece = /"delta"\s*:\s*\{\s*"\w+"/;
/** Text in most pieces from Bedrock. */
const usualPiece = '"delta":{"text"';

/** Marks the end, whatever its reason. */
const withSpokenEnd = (text: string): string =>
  text.replace(/"stopReason"\s*:\s*(null|"\s*(null)?\s*")/, `"stopReason":"${impliedFinishReason}"`);

/** Fields of the dimensions, because the package ignores the common option. */
const dimensionsMembers = { titan: 'dimensions', cohere: 'outputDimension', nova: 'embeddingDimension' } as const;

const bedrockEmbeddings: EmbeddingTarget = {
  // A key keeps the package from signing.
  openModel: ({ model, ...settings }, names) =>
    createAmazonBedrock({ ...settings, region: 'none' }).embedding(model, { modelFamily: familyOf(names) }),
  supportedFields: (names) => (familyOf(names) === 'cohere' ? ['input_type'] : []),
  toOptions({ dimensions, inputType = 'search_document' }, names) {
    const family = familyOf(names);
    const options = {
      ...(dimensions === undefined ? {} : { [dimensionsMembers[family]]: dimensions }),
      // The package embeds every text as a query by default.
      ...(family === 'cohere' ? { inputType } : {}),
      // The package lets Nova cut a long text silently.
      ...(family === 'nova' ? { truncate: 'NONE' } : {}),
    };
    return { providerOptions: { amazonBedrock: options } };
  },
  completeAnswer: withReadableCount,
  // Answers of Cohere have no count.
  readInputTokens: (_result, answer) => {
    const count = answer?.header?.('x-amzn-bedrock-input-token-count');
    return count === undefined ? undefined : toCount(Number(count));
  },
};

const readableCount = /"input(Text)?TokenCount"\s*:\s*\d{1,15}\s*[,}]/;

// Nova Canvas, called by InvokeModel.
const bedrockImages: ImageTarget = {
  imagesMax: 5,
  // A key keeps the package from signing.
  openModel: ({ model, ...settings }) => createAmazonBedrock({ ...settings, region: 'none' }).image(model),
  toOptions: ({ size, quality }) => ({
    size: size as `${number}x${number}` | undefined,
    aspectRatio: undefined,
    providerOptions: quality === undefined ? {} : { amazonBedrock: { quality } },
  }),
};

// Bedrock's reranking models, which belong to another service than its runtime.
const bedrockReranking: RerankTarget = {
  // A key keeps the package from signing.
  openModel: ({ model, ...settings }, { region = 'us-east-1' }) =>
    createAmazonBedrock({ ...settings, region }).reranking(model),
  hostname: (runtime) => runtime.replace(/^bedrock-runtime\./, 'bedrock-agent-runtime.'),
  pageOptions: (nextToken) => (nextToken === undefined ? {} : { providerOptions: { amazonBedrock: { nextToken } } }),
  nextPage: (answer) => (isJsonObject(answer) && typeof answer.nextToken === 'string' ? answer.nextToken : undefined),
};

export const target: HubTarget = {
  embeddingModels: bedrockEmbeddings,
  imageModels: bedrockImages,
  rerankingModels: bedrockReranking,
  // A key keeps the package from signing.
  openModel({ model, packageModel, names, fetch: send, ...settings }) {
    const ownPath: typeof send = (url, init) =>
      send(
        String(url).replace(pathOf(packageModel), () => pathOf(model)),
        init,
      );
    const family = names.some(isClaude) ? ({ modelFamily: 'anthropic' } as const) : {};
    return createAmazonBedrock({ ...settings, fetch: ownPath, region: 'none' })(packageModel, family);
  },
  toOptions(target) {
    const { call, names, rules } = target;
    const { topK: _unknown, topP, prompt, ...options } = claudeOptions(target);
    // Claude refuses both together; only Anthropic's package handles that.
    const isOneOfThem = names.some(isClaude) && call.temperature !== undefined;
    return {
      ...options,
      ...(isOneOfThem || topP === undefined ? {} : { topP }),
      prompt: withDocuments(withResultTexts(offersTools(call) ? ruledResults(prompt, rules) : callsAsText(prompt))),
    };
  },
  finalChanges(body, target) {
    const inference = readObject(body, 'inferenceConfig');
    const fields = readObject(body, 'additionalModelRequestFields');
    const thinking = fieldsOfThinking(body, fields, target);
    const { temperature: _temperature, topP: _topP, topK: _topK, ...plain } = inference;
    const changedFields = { ...fields, ...thinking.fields };
    const failed = target.rules.hasFailureFlag ? failedCalls(target.call.prompt) : new Set<string>();
    return {
      ...(failed.size === 0 ? {} : { messages: withFailures(read(body, 'messages'), failed) }),
      inferenceConfig: {
        ...(thinking.isThinking ? plain : inference),
        maxTokens: atMost(inference.maxTokens, target.outputMaxTokens),
      },
      ...(Object.keys(changedFields).length === 0 ? {} : { additionalModelRequestFields: changedFields }),
      ...markedTools(body, target),
    };
  },
  supportedOptions: ({ names }) => (names.some(isClaude) ? claudeSays : plainSays),
  strictness: claudeStrictness,
  streamType: frameStreamType,
  // In streams the arguments are text.
  toolArguments: { hint: '"toolUse"', paths: [['output', 'message', 'content', '*', 'toolUse', 'input']] },
  readStream: bedrockFrames,
  answerSteps: [(text) => withReadableUsage(text, converseUsage)],
  usageIn: (text) =>
    reportedUsage(text, converseUsage, (count) => {
      const [cached, cacheWrite] = [count('cacheReadInputTokens'), count('cacheWriteInputTokens')];
      const input = count('inputTokens') + cached + cacheWrite;
      return { input, cached, cacheWrite, output: count('outputTokens'), reasoning: 0 };
    }),
  originOf: ({ model }) => (/(^|\.)openai\./.test(model) ? 'openai-responses-v1' : claudeOrigin),
  readSigned: ({ amazonBedrock = {} } = {}) => ({
    ...(amazonBedrock.signature === emptyThinkingSignature ? {} : nonEmpty('signature', amazonBedrock.signature)),
    ...nonEmpty('encrypted', amazonBedrock.redactedContent ?? amazonBedrock.redactedData),
  }),
  signedOptions(part, { signature, encrypted }) {
    if (part !== 'reasoning') return undefined;
    if (signature !== undefined) return { amazonBedrock: { signature } };
    return encrypted === undefined ? undefined : { amazonBedrock: { redactedContent: encrypted } };
  },
};

const plainSays: ReadonlySet<OptionalName> = new Set(['cache_marks', 'cache_options', 'call_cache_marks']);
const claudeSays: ReadonlySet<OptionalName> = new Set([...plainSays, 'tool_cache_marks']);
const pathOf = (model: string): string => `/model/${encodeURIComponent(model)}/`;
const isClaude = (name: string): boolean => /claude/i.test(name);

/**
 * Returns the tools with cache points, each after the tool that it marks. The package writes no cache points, and
 * models of other vendors refuse cache points in tools.
 */
function markedTools(body: JsonText, target: TargetCall): JsonObject {
  const { call, names, addsCacheMarks } = target;
  if (!names.some(isClaude) || call.tools === undefined || !(addsCacheMarks || call.tools.some(pointOf))) return {};
  const points = new Map(claudeCall(target).tools?.map((tool) => [tool.name, pointOf(tool)]));
  const config = readObject(body, 'toolConfig');
  if (!Array.isArray(config.tools)) return {};
  const tools = config.tools.flatMap((tool: unknown) => {
    const { name } = isJsonObject(tool) && isJsonObject(tool.toolSpec) ? tool.toolSpec : {};
    const cachePoint = points.get(String(name));
    return cachePoint === undefined ? [tool] : [tool, { cachePoint }];
  });
  return { toolConfig: { ...config, tools } };
}

const pointOf = (tool: NonNullable<HubCall['tools']>[number]): unknown =>
  'providerOptions' in tool ? tool.providerOptions?.amazonBedrock?.cachePoint : undefined;

/**
 * Returns thinking fields by vendor. `isThinking` is true for a thinking Claude, which accepts no temperature and
 * similar options.
 */
function fieldsOfThinking(
  body: JsonText,
  fields: JsonObject,
  target: TargetCall,
): { fields: JsonObject; isThinking: boolean } {
  const { packageModel, thinking } = target;
  if (thinking === undefined) return { fields: {}, isThinking: false };
  if (target.reasoning.kind === 'budget' || target.reasoning.kind === 'adaptive') {
    const isClaudeForced = () => isForced(body, fields.tool_choice);
    const {
      thinking: thinkingField,
      effort,
      isThinking,
    } = claudeThinking(body, target, target.outputMaxTokens, isClaudeForced);
    const output = isJsonObject(fields.output_config) ? fields.output_config : {};
    return {
      fields: {
        ...(thinkingField === undefined ? {} : { thinking: thinkingField }),
        ...(effort === undefined ? {} : { output_config: { ...output, effort } }),
      },
      isThinking,
    };
  }
  return { fields: wordsOf(packageModel, thinking), isThinking: false };
}

function wordsOf(model: string, thinking: Thinking): JsonObject {
  const { kind } = thinking;
  if (model.includes('nova-')) {
    return { reasoningConfig: kind === 'effort' ? { type: 'enabled', maxReasoningEffort: thinking.effort } : disabled };
  }
  if (kind === 'on') return { thinking: { type: 'enabled' } };
  const effort = kind === 'effort' ? thinking.effort : undefined;
  if (/gpt-oss|kimi/.test(model)) return effort === undefined ? { thinking: disabled } : { reasoning_effort: effort };
  return { reasoning: { effort: effort ?? 'none' } };
}

const disabled = { type: 'disabled' };

const offersTools = ({ tools, toolChoice }: HubCall): boolean => tools !== undefined && toolChoice?.type !== 'none';

/**
 * True for a forced call. `claudeChoice` is the choice in Claude's own format, which replaces the choice of Converse if
 * calls must not be parallel.
 */
function isForced(body: JsonText, claudeChoice: unknown): boolean {
  if (isJsonObject(claudeChoice)) return claudeChoice.type !== 'auto';
  const config = findMember(body, 'toolConfig');
  const choice = config === undefined ? undefined : findMember(body, 'toolChoice', config);
  return choice !== undefined && findMember(body, 'auto', choice) === undefined;
}

// Bedrock's embedding models, called by InvokeModel: Titan, Cohere and Nova, each in its vendor's format.

type Family = 'titan' | 'cohere' | 'nova';

/**
 * Returns the family by the names at the provider and in the catalogue, because the ARN of an inference profile does
 * not show its model.
 */
function familyOf(names: readonly string[]): Family {
  if (names.some((name) => /nova.*embed/i.test(name))) return 'nova';
  return names.some((name) => /cohere.*embed/i.test(name)) ? 'cohere' : 'titan';
}

/** Sets a missing or invalid count to 0, because Titan's answers without it make the package fail. */
function withReadableCount(text: string): string {
  const trimmed = text.trimEnd();
  if (readableCount.test(text) || !trimmed.endsWith('}')) return text;
  return `${trimmed.slice(0, -1)},"inputTextTokenCount":0,"inputTokenCount":0}`;
}

// Converts a stream of Converse for its package: frames of an AWS event stream, bounded, with a usage that the package
// accepts.

/** Yields complete frames of an AWS event stream. Other bytes are passed on, and the package reports their fault. */
async function* bedrockFrames(bytes: AsyncIterable<Uint8Array>): Bytes {
  for await (const { frames, rest, cut } of splitFrames(bytes, upstreamEventMaxBytes)) {
    const readable = frames.filter((frame) => !isNewToPackage(frame)).map(withReadableText);
    for (const others of [rest, cut]) if (others !== undefined) readable.push(others);
    if (readable.length > 0) yield Buffer.concat(readable);
  }
}

function isNewToPackage(frame: Buffer): boolean {
  const { headers, text } = partsOfFrame(frame);
  if (!headers.includes('contentBlockDelta') || text.includes(usualPiece)) return false;
  const piece = text.toString('utf8');
  // Text that is not a piece at all breaks the stream, as usual.
  return anyPiece.test(piece) && !knownPiece.test(piece);
}

/** Corrects the frame with the usage, which comes last; its name is in its headers. */
function withReadableText(frame: Buffer): Uint8Array {
  const { headers, text } = partsOfFrame(frame);
  if (headers.includes('metadata')) return withFrameText(frame, (usage) => withReadableUsage(usage, converseUsage));
  if (headers.includes('messageStop')) return withFrameText(frame, withSpokenEnd);
  return text.includes('reasoningContent') ? withFrameText(frame, withThinkingBegun) : frame;
}
