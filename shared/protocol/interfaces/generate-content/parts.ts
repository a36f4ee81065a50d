// Reads the contents of a request and the kinds of their parts.
import { isJsonObject, type JsonObject } from '../../wire/index.ts';

export interface PlacedPart {
  /** Path in the request. */
  readonly path: string;
  readonly part: JsonObject;
  readonly role: unknown;
}

/** Yields the parts, including those of a function's result. */
export function* partsOf(body: JsonObject): Generator<PlacedPart> {
  for (const { content, path } of contentsOf(body)) yield* partsIn(content.parts, `${path}.parts`, content.role);
}

function* partsIn(parts: unknown, path: string, role: unknown): Generator<PlacedPart> {
  for (const [at, part] of (Array.isArray(parts) ? parts : []).entries()) {
    if (!isJsonObject(part)) continue;
    const place = `${path}[${at}]`;
    yield { path: place, part, role };
    if (isJsonObject(part.functionResponse))
      yield* partsIn(part.functionResponse.parts, `${place}.functionResponse.parts`, role);
  }
}

export function* contentsOf({ systemInstruction, contents }: JsonObject) {
  if (isJsonObject(systemInstruction)) yield { content: systemInstruction, path: 'systemInstruction' };
  for (const [at, content] of (Array.isArray(contents) ? contents : []).entries()) {
    if (isJsonObject(content)) yield { content, path: `contents[${at}]` };
  }
}

/** A blob inside a part. */
interface InlineData {
  readonly mimeType: string;
  readonly data: string;
}

export function inlineDataOf({ inlineData }: JsonObject): InlineData | undefined {
  if (!isJsonObject(inlineData)) return undefined;
  const { mimeType, data } = inlineData;
  return {
    mimeType: typeof mimeType === 'string' ? mimeType.toLowerCase() : '',
    data: typeof data === 'string' ? standardBase64(data) : '',
  };
}

/**
 * Returns base64 in the standard alphabet. Google reads both alphabets, but most other providers read only the standard
 * alphabet.
 */
const standardBase64 = (data: string): string =>
  data.includes('-') || data.includes('_') ? data.replaceAll('-', '+').replaceAll('_', '/') : data;

interface FileReference {
  readonly mimeType: string;
  readonly uri: string;
}

export function fileOf({ fileData }: JsonObject): FileReference | undefined {
  if (!isJsonObject(fileData)) return undefined;
  const { mimeType, fileUri } = fileData;
  return {
    mimeType: typeof mimeType === 'string' ? mimeType.toLowerCase() : '',
    uri: typeof fileUri === 'string' ? fileUri : '',
  };
}

/** Fields that determine the kind of a part. */
export const partKinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'] as const;
/** Kinds of parts that a provider ran itself, which another provider gets as text. */
export const ranByProvider = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'] as const;

export const functionsOf = (tools: unknown): readonly JsonObject[] =>
  (Array.isArray(tools) ? tools : []).flatMap((tool) =>
    isJsonObject(tool) && Array.isArray(tool.functionDeclarations)
      ? tool.functionDeclarations.filter(isJsonObject)
      : [],
  );

export const callingConfigOf = ({ toolConfig }: JsonObject): JsonObject => {
  const config = isJsonObject(toolConfig) ? toolConfig.functionCallingConfig : undefined;
  return isJsonObject(config) ? config : {};
};

export const generationConfigOf = ({ generationConfig }: JsonObject): JsonObject =>
  isJsonObject(generationConfig) ? generationConfig : {};
