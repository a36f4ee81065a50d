// Google's generateContent and streamGenerateContent.
import {
  type Choice,
  type Frame,
  piecesOf,
  type SimulatedCompletion,
  type TokenCounts,
  totalTokens,
  usageMember,
} from '../answer.ts';
import type { SimulatorCall, SimulatorFormat } from '../call.ts';
import { jsonFrame, serverSentEvent } from '../frames.ts';
import { pngOf } from '../png.ts';
import { signatureOf } from '../signature.ts';
import { tokensOf } from '../tokens.ts';
import { googleError, googleStreamError } from './google-errors.ts';
import { contentRefusals, readCountTokens, readGenerateContent } from './google-generate-content-request.ts';

/** Arguments of functions are not streamed: a call is one part. Of calls in parallel the first is signed. */
const callParts = ({ toolCalls }: Choice): readonly object[] =>
  toolCalls.map(({ id, name, arguments: text }, index) => ({
    functionCall: { id, name, args: JSON.parse(text) },
    ...(index === 0 ? { thoughtSignature: signatureOf(name) } : {}),
  }));

const partsOf = (choice: Choice): readonly object[] => [
  ...(choice.reasoning === undefined ? [] : [{ text: choice.reasoning, thought: true }]),
  ...(choice.content ? [{ text: choice.content }] : []),
  ...callParts(choice),
];

const streamedPartsOf = (choice: Choice): readonly object[] => [
  ...tokensOf(choice.reasoning ?? '').map((text) => ({ text, thought: true })),
  ...piecesOf(choice).map((text) => ({ text })),
  ...callParts(choice),
];

/** Gemini 3 signs a text that ends its answer, in a part of its own behind it. */
const signedEnd = ({ model }: SimulatedCompletion, { content, toolCalls }: Choice): readonly object[] =>
  /gemini-3/.test(model) && content && toolCalls.length === 0
    ? [{ text: '', thoughtSignature: signatureOf(content) }]
    : [];

/** A refusal has no words. */
function finishOf({ finishReason, refusal }: Choice): object {
  const reasons = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' };
  if (refusal !== undefined) return { finishReason: 'SAFETY' };
  return finishReason === null ? {} : { finishReason: reasons[finishReason] };
}

function usageJson(counts: TokenCounts) {
  const { input, output, reasoning, cached, isReasoningBeside } = counts;
  return {
    promptTokenCount: input,
    candidatesTokenCount: isReasoningBeside || !reasoning ? output : output - reasoning,
    totalTokenCount: totalTokens(counts),
    ...(cached ? { cachedContentTokenCount: cached } : {}),
    ...(reasoning ? { thoughtsTokenCount: reasoning } : {}),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }],
  };
}

/** Before its end a stream reports only the input. */
const firstUsageJson = ({ input }: TokenCounts) => ({ promptTokenCount: input, totalTokenCount: input });

const responseJson = (
  completion: SimulatedCompletion,
  candidates: readonly object[],
  usage: (counts: TokenCounts) => object = usageJson,
) => ({
  // A prompt that was blocked has no candidate.
  ...(completion.choices.length === 0 ? { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } : { candidates }),
  ...usageMember('usageMetadata', completion, usage),
  modelVersion: completion.model,
  responseId: completion.id,
});

const candidate = (index: number, parts: readonly object[], finish: object = {}) => ({
  content: { parts, role: 'model' },
  ...finish,
  index,
});

const json = ({ body, request }: SimulatorCall, completion: SimulatedCompletion) =>
  responseJson(
    completion,
    completion.choices.map((choice, index) => {
      const parts = asksForImages(body) ? [imagePart(request.turns.at(-1)?.text ?? '')] : partsOf(choice);
      return candidate(index, [...parts, ...signedEnd(completion, choice)], finishOf(choice));
    }),
  );

const asksForImages = (body: unknown): boolean => {
  const { generationConfig } = body as { readonly generationConfig?: { readonly responseModalities?: unknown } };
  return Array.isArray(generationConfig?.responseModalities) && generationConfig.responseModalities.includes('IMAGE');
};

const imagePart = (prompt: string) => ({
  inlineData: { mimeType: 'image/png', data: pngOf(prompt).toString('base64') },
});

function frames(_call: SimulatorCall, completion: SimulatedCompletion): readonly Frame[] {
  const { choices } = completion;
  if (choices.length === 0) return [jsonFrame('finish', responseJson(completion, []))];
  const outputs = choices.flatMap((choice, index) =>
    streamedPartsOf(choice).map((part) =>
      jsonFrame('output', responseJson(completion, [candidate(index, [part])], firstUsageJson)),
    ),
  );
  const finishes = choices.map((choice, index) => {
    const [signed = { text: '' }] = signedEnd(completion, choice);
    return candidate(index, [signed], finishOf(choice));
  });
  return [...outputs, jsonFrame('finish', responseJson(completion, finishes))];
}

export const generateContent: SimulatorFormat = {
  name: 'generate-content',
  path: /^\/(?:models\/)?(?<model>.+):(?<method>generateContent|streamGenerateContent)$/,
  keyHeader: 'x-goog-api-key',
  requestIdHeader: 'x-request-id',
  idPrefix: '',
  streamType: 'text/event-stream',
  answerMembers: ['candidates'],
  keepAlive: ': keep-alive\n\n',
  wrongCredential: { status: 400, code: 'api_key_invalid' },
  answersBlockedPrompts: true,
  refusals: contentRefusals,
  read: readGenerateContent,
  json,
  frames,
  encode: serverSentEvent,
  error: (status, code, message) => ({ body: googleError(status, code, message) }),
  errorFrames: (_call, _completion, code) => [jsonFrame('other', googleStreamError(code))],
};

export const countContents: SimulatorFormat = {
  ...generateContent,
  refusals: [],
  name: 'count-contents',
  path: /^\/(?:models\/)?(?<model>.+):countTokens$/,
  answerMembers: ['totalTokens'],
  read: readCountTokens,
  json: (_call, completion) => usageMember('totalTokens', completion, ({ input }) => input),
};
