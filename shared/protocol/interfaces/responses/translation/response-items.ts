// Converts input items that are calls of tools, and their results.
import type { LanguageModelV4File, LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import {
  base64Of,
  fileOfUrl,
  markedAs,
  type PromptPart,
  type ToolOutput,
  textParts,
  withDetail,
  withoutMark,
} from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';
import type { ClientTool, ClientTools } from './client-tools.ts';
import { ownToolOfCall, ownTools } from './own-tools.ts';

// Makes the parts of messages and of outputs of tools, which are text, images, audio and files in the types of the
// language-model interface.
/** Returns the parts of a content, with a plain text as one part. */
export function toParts(content: unknown): PromptPart[] {
  if (typeof content === 'string') return textParts(content);
  if (isJsonObject(content)) return toMarkedPart(content);
  return (Array.isArray(content) ? content.filter(isJsonObject) : []).flatMap(toMarkedPart);
}

export const toTexts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

const toMarkedPart = (part: JsonObject): PromptPart[] => toPart(part).map((read) => markedAs(read, part));

function toPart(part: JsonObject): PromptPart[] {
  const { type, text, refusal, image_url: image, filename } = part;
  if (type === 'input_image' || type === 'computer_screenshot') {
    return toFile(image, 'image').map((file) => withDetail(file, part.detail));
  }
  if (type === 'input_audio') return toAudio(part.input_audio);
  if (type === 'input_file') {
    const nameField = typeof filename === 'string' ? { filename } : {};
    return toFile(asDataUrl(part.file_data) ?? part.file_url, 'file').map((file) => ({ ...file, ...nameField }));
  }
  return textParts(text ?? refusal);
}

/** Returns a data URL. Data without a type is assumed to have the most common type. */
const asDataUrl = (data: unknown): string | undefined =>
  typeof data !== 'string' || data.startsWith('data:')
    ? (data as string | undefined)
    : `data:application/pdf;base64,${data}`;

const toFile = (url: unknown, kind: 'image' | 'file'): LanguageModelV4FilePart[] =>
  typeof url === 'string' && URL.canParse(url) ? [fileOfUrl(url, kind)] : [];

const audioTypes: Readonly<Record<string, string>> = { mp3: 'audio/mpeg' };

function toAudio(audio: unknown): LanguageModelV4FilePart[] {
  const { data, format } = isJsonObject(audio) ? audio : {};
  if (typeof data !== 'string' || typeof format !== 'string') return [];
  return [{ type: 'file', mediaType: audioTypes[format] ?? `audio/${format}`, data: { type: 'data', data } }];
}

export interface CreatedCall {
  readonly tool: ClientTool;
  /** Arguments of a function, as JSON text, or as a value. */
  readonly input: unknown;
}

/** Returns the call; undefined for an item that is not a call run by the client. */
export function callOf(item: JsonObject): CreatedCall | undefined {
  const { type } = item;
  const name = typeof item.name === 'string' ? item.name : '';
  const namespace = typeof item.namespace === 'string' ? item.namespace : undefined;
  if (type === 'function_call') return { tool: { kind: 'function', name, namespace }, input: item.arguments };
  if (type === 'custom_tool_call') {
    return { tool: { kind: 'custom', name, namespace }, input: { input: item.input ?? '' } };
  }
  const kind = ownToolOfCall(type);
  return kind && { tool: { kind, name: kind }, input: ownTools[kind].toInput(item) };
}

/** True for `tool_search_output` and all other results; an item of the assistant is none. */
export const isResult = (type: unknown): boolean => typeof type === 'string' && /_(call|search)_output$/.test(type);

export function outputOf({ type, output, tools, status }: JsonObject, clientTools: ClientTools): ToolOutput {
  if (type === 'tool_search_output') return { type: 'text', value: describeFound(tools, clientTools) };
  const parts = toParts(output);
  const isPlain = typeof output === 'string' || parts.every((part) => part.type === 'text');
  if (!isPlain) {
    const value = parts.map(withoutMark);
    return { type: 'content', value: value as Extract<ToolOutput, { type: 'content' }>['value'] };
  }
  const value = typeof output === 'string' ? output : textOf(output, parts);
  return { type: status === 'failed' ? 'error-text' : 'text', value };
}

/** Returns the text of an output; without a text part it is sent as it was written. */
function textOf(output: unknown, parts: readonly PromptPart[]): string {
  if (parts.length > 0) return parts.map((part) => ('text' in part ? part.text : '')).join('\n');
  const isNothing = (output ?? null) === null || (Array.isArray(output) && output.every(isTextPart));
  return isNothing ? '' : JSON.stringify(output);
}

const isTextPart = (part: unknown): boolean => isJsonObject(part) && typeof part.text === 'string';

/** Describes found tools by name, because the tools themselves are sent in full. */
function describeFound(tools: unknown, clientTools: ClientTools): string {
  const namesIn = (list: unknown, namespace?: string): string[] =>
    (Array.isArray(list) ? list.filter(isJsonObject) : []).flatMap(({ type, name, tools: inner }) => {
      const toolName = typeof name === 'string' ? name : '';
      if (type === 'namespace') return namesIn(inner, toolName);
      return [clientTools.nameFor({ kind: type === 'custom' ? type : 'function', name: toolName, namespace })];
    });
  const names = namesIn(tools);
  return names.length === 0 ? 'No tool was found.' : `Tools found: ${names.join(', ')}`;
}

const runMaxCharacters = 16_384;

export const describeRun = ({ id: _id, status: _status, type, ...item }: JsonObject): string =>
  `[${String(type)}: ${JSON.stringify(item).slice(0, runMaxCharacters)}]`;

/** Returns an image of an answer, as base64; undefined for another file, or for an image at a URL. */
export const imageOf = (file: LanguageModelV4File): string | undefined =>
  file.mediaType.startsWith('image/') ? base64Of(file) : undefined;
