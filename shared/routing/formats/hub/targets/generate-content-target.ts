// Translates calls to Gemini's generateContent.
import { createGoogle } from '@ai-sdk/google';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Thinking } from '../../../../configuration/catalogue/index.ts';
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { nextTurn } from '../../../../foundation/time/index.ts';
import { putInstructionsFirst, type ToolPart } from '../../../../protocol/hub/index.ts';
import { scanAnswer } from '../../../../protocol/interfaces/index.ts';
import {
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  readEvents,
  replaceValues,
  rewriteMembers,
} from '../../../../protocol/wire/index.ts';
import { listPieces, longCharacters, readInPieces } from './answer-pieces.ts';
import { atMost, type Bytes, eventBytes, nonEmpty, readObject } from './body-members.ts';
import type { EmbeddingTarget, HubTarget, ImageTarget } from './hub-target.ts';
import { anyJsonSchema, callOptions, isAnyJson } from './json-format.ts';
import { reportedUsage, type UsageShape, withReadableUsage } from './readable-usage.ts';

// Gemini's embedding models, called by embedContent and batchEmbedContents.
const geminiEmbeddings: EmbeddingTarget = {
  // The package adds the folder itself.
  openModel: ({ model, ...settings }) => createGoogle(settings).embedding(model.replace(/^models\//, '')),
  supportedFields: () => ['taskType'],
  toOptions: ({ dimensions, taskType }) => ({
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(taskType === undefined ? {} : { providerOptions: { google: { taskType } } }),
  }),
  // The package drops counts that newer models report.
  readInputTokens({ response }) {
    const usage = isJsonObject(response?.body) ? response.body.usageMetadata : undefined;
    return isJsonObject(usage) ? usage.promptTokenCount : undefined;
  },
  needsNormalization: true,
};

// Gemini's image models, called by generateContent.
const geminiImages: ImageTarget = {
  imagesMax: 1,
  // The package adds the folder itself.
  openModel: ({ model, ...settings }) => createGoogle(settings).image(model.replace(/^models\//, '')),
  toOptions: ({ size }) => ({
    size: undefined,
    // For any other size the planner skips the candidate.
    aspectRatio: size === undefined ? undefined : '1:1',
    providerOptions: {},
  }),
};

export const target: HubTarget = {
  embeddingModels: geminiEmbeddings,
  imageModels: geminiImages,
  openModel: ({ model, ...settings }) =>
    readInPieces(settings, answerPieces, (fetch) => createGoogle({ ...settings, fetch })(pathOf(model))),
  toOptions(target) {
    const { call } = target;
    return {
      ...callOptions(target),
      prompt: oneTextInResults(putInstructionsFirst(call.prompt)),
      // Gemini's own JSON mode does not work together with tools.
      ...(isAnyJson(call) && call.tools !== undefined ? { responseFormat: anyJsonSchema } : {}),
    };
  },
  finalChanges(body, { outputMaxTokens, thinking }) {
    const config = readObject(body, 'generationConfig');
    return {
      generationConfig: {
        ...config,
        maxOutputTokens: atMost(config.maxOutputTokens, outputMaxTokens),
        ...(thinking === undefined ? {} : { thinkingConfig: thinkingConfig(thinking) }),
      },
    };
  },
  supportedOptions: new Set(),
  streamType: 'text/event-stream',
  toolArguments: {
    hint: '"functionCall"',
    paths: [['candidates', '*', 'content', 'parts', '*', 'functionCall', 'args']],
  },
  readStream: (bytes, takeOut) => geminiEvents(bytes, (text) => withReadableEventUsage(takeOut(text))),
  answerSteps: [(text) => withReadableUsage(text, geminiUsage)],
  usageIn: (text) =>
    reportedUsage(text, geminiUsage, (count) => {
      const reasoning = count('thoughtsTokenCount');
      return {
        input: count('promptTokenCount') + count('toolUsePromptTokenCount'),
        cached: count('cachedContentTokenCount'),
        cacheWrite: 0,
        output: count('candidatesTokenCount') + reasoning,
        reasoning,
      };
    }),
  // The block replaces an answer.
  isBlockedPrompt(metadata) {
    const feedback = metadata?.google?.promptFeedback;
    return isJsonObject(feedback) && typeof feedback.blockReason === 'string';
  },
  // Its package calls again if an answer reached the limit of one request. This answer ends the package's loop instead.
  secondCallAnswer: { candidates: [{ finishReason: 'MAX_TOKENS' }] },
  // An answer without parts has a success status and is billed.
  isEmptyAnswerFailure: true,
  originOf: () => 'google-gemini-v1',
  readSigned: ({ google = {} } = {}) => nonEmpty('signature', google.thoughtSignature),
  // The options are by the kind of part.
  signedOptions: (_part, { signature }) =>
    signature === undefined ? undefined : { google: { thoughtSignature: signature } },
};

const answerPieces = (text: string) => piecesOf(text, false);

/** Joins the texts of a result. The package drops images if a result has no text, and each call requires a result. */
const oneTextInResults = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) =>
    message.role !== 'tool' ? message : { ...message, content: message.content.map(withOneText) },
  );

function withOneText(part: ToolPart): ToolPart {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  const { value } = part.output;
  const texts = value.flatMap((one) => (one.type === 'text' ? [one.text] : []));
  const text = texts.length === 0 ? '(the following)' : texts.join('\n');
  const rest = value.filter(({ type }) => type !== 'text');
  return { ...part, output: { ...part.output, value: [{ type: 'text', text }, ...rest] } };
}

/** Returns the configuration. Without `includeThoughts` thoughts are billed, but not shown. */
function thinkingConfig(thinking: Thinking): JsonObject {
  if (thinking.kind === 'budget') return { thinkingBudget: thinking.tokens, includeThoughts: true };
  if (thinking.kind === 'off') return { thinkingBudget: 0 };
  return 'effort' in thinking
    ? { thinkingLevel: thinking.effort, ...(thinking.isLeast ? {} : { includeThoughts: true }) }
    : { includeThoughts: true };
}

/** Returns the path of a model, because the package interprets a name with a slash as a path. */
const pathOf = (model: string): string =>
  !model.includes('/') || /^(models|tunedModels)\//.test(model) ? model : `models/${model}`;

const geminiUsage: UsageShape = {
  member: 'usageMetadata',
  required: ['promptTokenCount'],
  optionalCounts: ['candidates', 'thoughts', 'toolUsePrompt'].map((name) => `${name}TokenCount`),
  subtotals: ['cachedContentTokenCount', 'totalTokenCount'],
  isUsageRequired: false,
};

/** Matches malformed usage. Gemini repeats its usage in each event, and only malformed usage is parsed. */
const oddGeminiUsage = /"usageMetadata"\s*:\s*[^{\s]|"\w+TokenCount"\s*:(?!\s*\d{1,15}\s*[,}])/;

const withReadableEventUsage = (text: string): string =>
  oddGeminiUsage.test(text) ? withReadableUsage(text, geminiUsage) : text;

// Converts a stream of Gemini for its package. Events are bounded. An event with many parts is divided, because the
// package reads an event at once, and would block other calls.

/** Yields the events. `readable` converts an event, or a piece of an event, for the package. */
export async function* geminiEvents(bytes: AsyncIterable<Uint8Array>, readable: (text: string) => string): Bytes {
  for await (const events of readEvents(bytes, upstreamEventMaxBytes)) {
    if (events.every(({ text }) => text.length <= longCharacters)) {
      yield eventBytes(events.map(({ name, text }) => ({ name, text: readable(text) })));
      continue;
    }
    for (const { name, text } of events) {
      for (const piece of piecesOf(text)) {
        yield eventBytes([{ name, text: readable(piece) }]);
        await nextTurn();
      }
    }
  }
}

/**
 * Yields pieces from which the package reads the same as from the whole event. Only the last piece has the finish
 * reason and the usage. `hasHead` means that fields next to the parts form a separate first piece.
 */
function* piecesOf(text: string, hasHead = true): Generator<string> {
  const json = text.length > longCharacters ? scanAnswer(text) : undefined;
  const list = json && partsIn(json);
  const pieces = json === undefined || list === undefined ? [] : [...listPieces(json, list)];
  if (json === undefined || list === undefined || pieces.length === 0) {
    yield text;
    return;
  }
  // The head is a separate piece, because the package reads no part of an error, or of a blocked prompt.
  if (hasHead) yield rewriteMembers(json, withoutEnd);
  for (const piece of pieces) {
    yield piece.isLast
      ? replaceValues(json, [[list, piece.text]])
      : `{"candidates":[{"content":{"parts":${piece.text}}}]}`;
  }
}

const withoutEnd: ReadonlyMap<string, undefined> = new Map([
  ['candidates', undefined],
  ['usageMetadata', undefined],
]);

/** Returns the list of parts of the first candidate, because the package reads no other candidate. */
function partsIn(json: JsonText): number | undefined {
  const list = findMember(json, 'candidates');
  const candidate = list !== undefined && json.isArray(list) && json.next(list) > list + 1 ? list + 1 : undefined;
  const content = candidate === undefined ? undefined : memberOf(json, 'content', candidate);
  const parts = content === undefined ? undefined : memberOf(json, 'parts', content);
  return parts !== undefined && json.isArray(parts) ? parts : undefined;
}

const memberOf = (json: JsonText, name: string, object: number): number | undefined =>
  json.isObject(object) ? findMember(json, name, object) : undefined;
