// Reads a generateContent request, and refuses it as Google would.
import type { ProviderRefusal, Received } from '../call.ts';
import { type ModelRequest, plainRequest, type RequestTurn } from '../model-request.ts';
import { signatureOf } from '../signature.ts';

interface GenerateContentPart {
  readonly text?: string;
  readonly thoughtSignature?: string;
  readonly inlineData?: { readonly mimeType?: string };
  readonly fileData?: { readonly mimeType?: string };
  readonly functionCall?: { readonly name: string; readonly args?: unknown };
  readonly functionResponse?: { readonly response?: Readonly<Record<string, unknown>> };
}

interface Content {
  readonly role?: string;
  readonly parts: readonly GenerateContentPart[];
}

/** The fields that are read; the request may have others. */
interface GenerateContentBody {
  readonly contents: readonly Content[];
  readonly systemInstruction?: Content;
  readonly generationConfig?: {
    readonly maxOutputTokens?: number;
    readonly stopSequences?: readonly string[];
    readonly candidateCount?: number;
    readonly responseMimeType?: string;
    readonly responseSchema?: unknown;
    readonly responseJsonSchema?: unknown;
    readonly thinkingConfig?: { readonly includeThoughts?: boolean };
  };
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declaration[] }[];
  readonly toolConfig?: {
    readonly functionCallingConfig?: { readonly mode?: string; readonly allowedFunctionNames?: readonly string[] };
  };
}

interface Declaration {
  readonly name: string;
  readonly parameters?: unknown;
  readonly parametersJsonSchema?: unknown;
}

export function readGenerateContent({ body: json, fromPath, query }: Received): ModelRequest | string {
  const body = json as GenerateContentBody | null | undefined;
  if (typeof body !== 'object' || body === null) return 'Invalid JSON payload received.';
  const { model = '', method } = fromPath;
  const isStream = method === 'streamGenerateContent';
  if (isStream && !query.split('&').includes('alt=sse')) return 'Only alt=sse is simulated of streamGenerateContent.';
  const invalid = whyInvalid(body, model);
  if (invalid !== undefined) return invalid;
  const { contents, systemInstruction, generationConfig: config = {}, tools = [], toolConfig } = body;
  const schema = config.responseJsonSchema ?? (config.responseSchema && jsonSchemaOf(config.responseSchema));
  const { mode, allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {};
  return {
    ...plainRequest,
    model,
    isStream,
    turns: [
      ...(systemInstruction?.parts ?? []).map(({ text = '' }) => ({ role: 'system', text })),
      ...contents.flatMap(({ role = 'user', parts }) => parts.map((part) => turnOf(role, part))),
    ],
    tools: tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .filter(({ name }) => allowed === undefined || allowed.includes(name))
      .map(({ name, parameters, parametersJsonSchema }) => ({
        name,
        parameters: parametersJsonSchema ?? (parameters && jsonSchemaOf(parameters)),
      })),
    toolChoice: mode === 'ANY' ? 'required' : mode === 'NONE' ? 'none' : 'auto',
    outputTokensMax: config.maxOutputTokens,
    stopSequences: config.stopSequences ?? [],
    choiceCount: config.candidateCount ?? 1,
    output: schema ? { schema } : config.responseMimeType === 'application/json' ? 'object' : 'text',
    isThinking: config.thinkingConfig?.includeThoughts === true,
  };
}

/**
 * Reads a request to count tokens. Instructions and tools are only counted within `generateContentRequest`, which names
 * the model itself.
 */
export function readCountTokens(call: Received): ModelRequest | string {
  const body = call.body as CountBody | null | undefined;
  if (typeof body !== 'object' || body === null) return 'Invalid JSON payload received.';
  const { generateContentRequest: wrapped, ...beside } = body;
  if (wrapped !== undefined && 'contents' in beside)
    return 'Only one of contents and generateContentRequest can be set.';
  const modelName = wrapped?.model;
  if (wrapped !== undefined && modelName !== `models/${call.fromPath.model}`) {
    return '* CountTokensRequest.generate_content_request.model: must be the model of the path';
  }
  const unknown = Object.keys(beside).find((name) => name !== 'contents');
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`;
  return readGenerateContent({ ...call, body: wrapped ?? beside });
}

interface CountBody {
  readonly contents?: readonly Content[];
  readonly generateContentRequest?: GenerateContentBody & { readonly model?: string };
}

/** Converts a schema: Google's own schemas write types in capitals. */
function jsonSchemaOf(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(jsonSchemaOf);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => [
    name,
    name === 'type' && typeof value === 'string' ? value.toLowerCase() : jsonSchemaOf(value),
  ]);
  return Object.fromEntries(members);
}

function turnOf(
  role: string,
  { text = '', inlineData, fileData, functionCall, functionResponse }: GenerateContentPart,
): RequestTurn {
  if (functionCall !== undefined) {
    return { role: 'assistant', text: '', toolArguments: [JSON.stringify(functionCall.args ?? {})] };
  }
  if (functionResponse !== undefined) return { role: 'tool', text: resultText(functionResponse.response ?? {}) };
  const isImage = (inlineData ?? fileData)?.mimeType?.startsWith('image/') ?? false;
  return { role: role === 'model' ? 'assistant' : role, text, images: isImage ? 1 : 0 };
}

/** Returns the text of a result. Clients put a text that is not an object under a name of their own. */
function resultText(response: Readonly<Record<string, unknown>>): string {
  const text = [response.output, response.content, response.result].find((value) => typeof value === 'string');
  return typeof text === 'string' ? text : JSON.stringify(response);
}

/** Values by which a client reports that it has lost the signature. */
const signatureless = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'];

function whyInvalid({ contents: turns, tools = [] }: GenerateContentBody, model: string): string | undefined {
  if (!Array.isArray(turns) || turns.length === 0) {
    return '* GenerateContentRequest.contents: contents is not specified';
  }
  const empty = turns.findIndex((content) => !Array.isArray(content?.parts) || content.parts.length === 0);
  if (empty >= 0) return `* GenerateContentRequest.contents[${empty}].parts: contents.parts must not be empty.`;
  const contents = mergedModelTurns(turns);
  const unanswered = contents.some(({ parts }, index) => {
    const calls = parts.filter(({ functionCall }: GenerateContentPart) => functionCall !== undefined).length;
    const next: readonly GenerateContentPart[] = contents[index + 1]?.parts ?? [];
    const results = next.filter(({ functionResponse }) => functionResponse !== undefined).length;
    return calls > 0 && next.length > 0 && calls !== results;
  });
  if (unanswered) {
    return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  const names = [
    ...tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    ...partsOf(contents).flatMap(({ functionCall }) => functionCall?.name ?? []),
  ];
  if (!names.every((name) => functionName.test(name))) {
    return '* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.';
  }
  if (contents.some((content, index) => isMisplaced(content, contents[index - 1]))) {
    return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
  }
  const signed = contents.flatMap(({ parts }) => firstCallOf(parts));
  if (signed.some(({ thoughtSignature }) => thoughtSignature === undefined) && /gemini-3/.test(model)) {
    return 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.';
  }
  return signed.some(isForged) ? 'Corrupted thought signature.' : undefined;
}

const partsOf = (contents: readonly Content[]): readonly GenerateContentPart[] =>
  contents.flatMap(({ parts }) => parts);

function isMisplaced({ role, parts }: Content, before: Content | undefined): boolean {
  if (firstCallOf(parts).length > 0) return before === undefined || before.role === role;
  return parts.some(({ functionResponse }) => functionResponse) && firstCallOf(before?.parts ?? []).length === 0;
}

const functionName = /^[a-zA-Z_][\w.:-]{0,63}$/;

/** Returns the first of parallel calls, which is the signed call. */
const firstCallOf = (parts: readonly GenerateContentPart[]): readonly GenerateContentPart[] =>
  parts.filter(({ functionCall }) => functionCall !== undefined).slice(0, 1);

const isForged = ({ thoughtSignature: signature, functionCall }: GenerateContentPart): boolean =>
  signature !== undefined &&
  !signatureless.includes(signature) &&
  // Signatures are bytes, in either alphabet of base64.
  signature.replaceAll('-', '+').replaceAll('_', '/') !== signatureOf(functionCall?.name ?? '');

/**
 * Merges successive contents of the model, which are one turn to Google. Google's SDKs store each chunk of a stream as
 * a content, and the end of a stream is a chunk of its own after the chunk of a call (`google-tool-call-gemini3` of the
 * recorded answers).
 */
function mergedModelTurns<Turn extends { readonly role?: string; readonly parts?: readonly unknown[] }>(
  contents: readonly Turn[],
): readonly Turn[] {
  const turns: Turn[] = [];
  for (const content of contents) {
    const last = turns.at(-1);
    if (last?.role === 'model' && content.role === 'model')
      turns.splice(-1, 1, { ...last, parts: [...(last.parts ?? []), ...(content.parts ?? [])] });
    else turns.push(content);
  }
  return turns;
}

// Refuses a conversation that is sent again, as real providers do.

interface ContentHistory {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly HistoryPart[] }[];
}

interface HistoryPart {
  readonly functionCall?: { readonly name?: string };
  readonly functionResponse?: unknown;
  readonly thoughtSignature?: string;
  readonly thought_signature?: string;
}

export const contentRefusals: readonly ProviderRefusal<ContentHistory>[] = [
  {
    source: 'https://github.com/google-gemini/gemini-cli/issues/5443',
    why({ contents: turns = [] }) {
      const contents = mergedModelTurns(turns);
      const isUneven = contents.some(({ parts = [] }, at) => {
        const answers = parts.filter((part) => part.functionResponse !== undefined).length;
        const calls = (contents[at - 1]?.parts ?? []).filter((part) => part.functionCall !== undefined).length;
        return answers > 0 && answers !== calls;
      });
      return isUneven
        ? 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
        : undefined;
    },
  },
  {
    source: 'https://github.com/nanbingxyz/5ire/issues/405',
    why({ contents: turns = [] }, model) {
      const contents = mergedModelTurns(turns);
      if (!/gemini-([3-9]|[a-z-]*latest)/.test(model)) return undefined;
      for (const [at, { parts = [] }] of contents.entries()) {
        // Only the first of parallel calls is signed.
        const call = parts.find((part) => part.functionCall !== undefined);
        if (call === undefined || (call.thoughtSignature ?? call.thought_signature) !== undefined) continue;
        return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call.functionCall?.name}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
      }
      return undefined;
    },
  },
];
