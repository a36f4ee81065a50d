// Implements Google's generateContent and streamGenerateContent.
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
import { contentRefusals, readCountTokens, readGenerateContent } from './google-generate-content-request.ts';

const statuses: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'The caller does not have permission'],
  404: ['NOT_FOUND', 'models/unknown is not found for API version v1beta, or is not supported for generateContent.'],
  409: ['ABORTED', 'The operation was aborted.'],
  429: ['RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  504: ['DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'],
};

/** Message and usual status by code. */
const errorsByCode: Readonly<Record<string, readonly [status: number, message: string]>> = {
  api_key_invalid: [400, 'API key not valid. Please pass a valid API key.'],
  context_length_exceeded: [400, 'The input token count (9001) exceeds the maximum number of tokens allowed (8192).'],
  max_tokens_exceeded: [
    400,
    'Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
  ],
  content_policy_violation: [400, 'The prompt was blocked because it violates the usage policies.'],
  unsupported_parameter: [400, 'Invalid JSON payload received. Unknown name "logit_bias": Cannot find field.'],
  unsupported_value: [400, 'Penalty is not enabled for models/unknown'],
  invalid_function_parameters: [
    400,
    '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type',
  ],
  invalid_image_url: [
    400,
    'Unable to process input image. Please retry or report in https://developers.generativeai.google/',
  ],
  image_too_large: [400, 'Request payload size exceeds the limit: 20971520 bytes.'],
  invalid_image_format: [400, 'Unsupported MIME type: image/tiff'],
  image_download_failed: [400, 'Cannot fetch content from the provided URL.'],
  insufficient_quota: [429, 'You exceeded your current quota, please check your plan and billing details.'],
  rate_limit_exceeded: [429, 'Resource has been exhausted (e.g. check quota).'],
};

const invalidKeyDetails = [
  {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'API_KEY_INVALID',
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  },
];

const internal = ['INTERNAL', 'An internal error has occurred. Please retry.'] as const;

/** Returns an error within a stream. The status 200 was sent already, so the error's code is the status. */
const googleStreamError = (code = '') => googleError(errorsByCode[code]?.[0] ?? 500, code);

/**
 * Returns the parts of calls. Arguments of functions are not streamed, so a call is one part. The first of parallel
 * calls is signed.
 */
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

/** Returns the signature of a text that ends the answer: Gemini 3 sends it in a part of its own after the text. */
const signedEnd = ({ model }: SimulatedCompletion, { content, toolCalls }: Choice): readonly object[] =>
  /gemini-3/.test(model) && content && toolCalls.length === 0
    ? [{ text: '', thoughtSignature: signatureOf(content) }]
    : [];

/** Returns the end of an answer. A refusal has no text. */
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

/** Returns the report before a stream's end, which contains only the input. */
const firstUsageJson = ({ input }: TokenCounts) => ({ promptTokenCount: input, totalTokenCount: input });

const responseJson = (
  completion: SimulatedCompletion,
  candidates: readonly object[],
  usage: (counts: TokenCounts) => object = usageJson,
) => ({
  // A blocked prompt has no candidate.
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

// Writes errors as Google does. The codes come from the simulator's model names; Google itself has only statuses.
export function googleError(status: number, code = '', message?: string) {
  const [word, text] = statuses[status] ?? (status < 500 ? ['FAILED_PRECONDITION', 'Precondition failed.'] : internal);
  const details = code === 'api_key_invalid' ? { details: invalidKeyDetails } : {};
  return { error: { code: status, message: message ?? errorsByCode[code]?.[1] ?? text, status: word, ...details } };
}
