// Content blocks of a message: text, images and documents, in the form of the language-model interface.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import { cacheMark, fileOfData, fileOfUrl, isBlank, type PromptPart, textParts } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { blockUse } from '../block-types.ts';

/** The parts of a content, a plain text as one. Blocks of another kind have none. */
export function toParts(content: unknown): PromptPart[] {
  if (typeof content === 'string') return textParts(content);
  return (Array.isArray(content) ? content.filter(isJsonObject) : []).flatMap((block) => {
    const [first, ...rest] = toBlockParts(block).filter((part) => part.type !== 'text' || !isBlank(part.text));
    return first === undefined ? [] : [{ ...first, ...cacheMark(block) }, ...rest];
  });
}

export const toTextParts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

/** One block. Several parts where it is a document made of blocks. */
function toBlockParts(block: JsonObject): PromptPart[] {
  if (block.type === 'text' && typeof block.text === 'string') return [{ type: 'text', text: block.text }];
  if (block.type === 'image') return toFile(block, 'image');
  if (block.type === 'document') return toDocument(block);
  if (block.type === 'search_result') return searchResult(block);
  // Results of a tool search: the tools themselves are sent whole.
  if (block.type === 'tool_reference' && typeof block.tool_name === 'string') {
    return [{ type: 'text', text: `Tool found: ${block.tool_name}` }];
  }
  return blockUse(block.type) === 'as_text' ? [{ type: 'text', text: describeRun(block) }] : [];
}

const runMaxCharacters = 16_384;

/** A tool run of another provider, with its result, is text for any other model. */
function describeRun({ type, name, input, content, ...rest }: JsonObject): string {
  const isCall = type === 'server_tool_use' || type === 'mcp_tool_use';
  const what = isCall ? `Called ${String(name)}` : 'It answered';
  return `[${what}: ${JSON.stringify(input ?? content ?? rest).slice(0, runMaxCharacters)}]`;
}

function toFile({ source }: JsonObject, kind: 'image' | 'file'): LanguageModelV4FilePart[] {
  const { type, data, media_type: mediaType, url } = isJsonObject(source) ? source : {};
  if (type === 'url' && typeof url === 'string' && URL.canParse(url)) return [fileOfUrl(url, kind)];
  if (type !== 'base64' || typeof data !== 'string') return [];
  const named = typeof mediaType === 'string' ? mediaType : kind === 'image' ? 'image/png' : 'application/pdf';
  return [fileOfData(named, data)];
}

function toDocument(block: JsonObject): PromptPart[] {
  const { title, context, source } = block;
  const { type, data, content } = isJsonObject(source) ? source : {};
  const about = [title, context].filter((text) => typeof text === 'string' && !isBlank(text)).join('\n');
  const head = textParts(about);
  if (type === 'text' && typeof data === 'string') return [...head, { type: 'text', text: data }];
  if (type === 'content') return [...head, ...toParts(content)];
  const files = toFile(block, 'file').map((file) => (typeof title === 'string' ? { ...file, filename: title } : file));
  return [...textParts(context), ...files];
}

const searchResult = ({ title, source, content }: JsonObject): PromptPart[] => {
  const head = [title, source].filter((text) => typeof text === 'string').join('\n');
  return [...(head === '' ? [] : [{ type: 'text', text: head } as const]), ...toParts(content)];
};
