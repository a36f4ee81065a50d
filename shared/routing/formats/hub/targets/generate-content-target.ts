// Gemini's generateContent.

import { createGoogle } from '@ai-sdk/google';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Thinking } from '../../../../configuration/catalogue/index.ts';
import { instructionsFirst, type ToolPart } from '../../../../protocol/hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';
import { readInPieces } from './answer-pieces.ts';
import { atMost, nonEmpty, readObject } from './body-members.ts';
import { geminiEmbeddings } from './gemini-embeddings.ts';
import { geminiEvents, piecesOf } from './gemini-events.ts';
import { geminiImages } from './gemini-images.ts';
import type { HubTarget } from './hub-target.ts';
import { anyJsonSchema, callOptions, isAnyJson } from './json-format.ts';
import { reportedUsage, type UsageShape, withReadableUsage } from './readable-usage.ts';

export const target: HubTarget = {
  embeddings: geminiEmbeddings,
  imaging: geminiImages,
  openModel: ({ model, ...settings }) =>
    readInPieces(settings, answerPieces, (fetch) => createGoogle({ ...settings, fetch })(pathOf(model))),
  toOptions(target) {
    const { call } = target;
    return {
      ...callOptions(target),
      prompt: oneTextInResults(instructionsFirst(call.prompt)),
      // Its own JSON mode does not work beside tools.
      ...(isAnyJson(call) && call.tools !== undefined ? { responseFormat: anyJsonSchema } : {}),
    };
  },
  boundBody(body, { boundTokens, thinking }) {
    const config = readObject(body, 'generationConfig');
    return {
      generationConfig: {
        ...config,
        maxOutputTokens: atMost(config.maxOutputTokens, boundTokens),
        ...(thinking === undefined ? {} : { thinkingConfig: thinkingConfig(thinking) }),
      },
    };
  },
  says: new Set(),
  streamType: 'text/event-stream',
  argumentsShape: {
    mark: '"functionCall"',
    paths: [['candidates', '*', 'content', 'parts', '*', 'functionCall', 'args']],
  },
  readStream: (bytes, takeOut) => geminiEvents(bytes, (text) => withReadableEventUsage(takeOut(text))),
  readable: [(text) => withReadableUsage(text, geminiUsage)],
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
  // Replaces an answer.
  isBlockedPrompt(metadata) {
    const feedback = metadata?.google?.promptFeedback;
    return isJsonObject(feedback) && typeof feedback.blockReason === 'string';
  },
  // Its package asks again where an answer reached the limit of one request: the answer ends there.
  endOfAnswer: { candidates: [{ finishReason: 'MAX_TOKENS' }] },
  // A success that is billed, and has no part.
  failsEmpty: true,
  originOf: () => 'google-gemini-v1',
  readSigned: ({ google = {} } = {}) => nonEmpty('signature', google.thoughtSignature),
  // Options by the kind of part.
  signedOptions: (_part, { signature }) =>
    signature === undefined ? undefined : { google: { thoughtSignature: signature } },
};

const answerPieces = (text: string) => piecesOf(text, false);

/** The package drops images when a result has no text; all texts become one, because each call wants one result. */
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

/** Without `includeThoughts` thoughts are billed, but not shown. */
function thinkingConfig(thinking: Thinking): JsonObject {
  if (thinking.kind === 'budget') return { thinkingBudget: thinking.tokens, includeThoughts: true };
  if (thinking.kind === 'off') return { thinkingBudget: 0 };
  return 'effort' in thinking
    ? { thinkingLevel: thinking.effort, ...(thinking.isLeast ? {} : { includeThoughts: true }) }
    : { includeThoughts: true };
}

/** The package takes a name with a slash for a path of its own. */
const pathOf = (model: string): string =>
  !model.includes('/') || /^(models|tunedModels)\//.test(model) ? model : `models/${model}`;

const geminiUsage: UsageShape = {
  member: 'usageMetadata',
  required: ['promptTokenCount'],
  counts: ['candidates', 'thoughts', 'toolUsePrompt'].map((name) => `${name}TokenCount`),
  parts: ['cachedContentTokenCount', 'totalTokenCount'],
  isWanted: false,
};

/** Gemini repeats its usage in each event: only one that may be malformed is parsed. */
const oddGeminiUsage = /"usageMetadata"\s*:\s*[^{\s]|"\w+TokenCount"\s*:(?!\s*\d{1,15}\s*[,}])/;

const withReadableEventUsage = (text: string): string =>
  oddGeminiUsage.test(text) ? withReadableUsage(text, geminiUsage) : text;
