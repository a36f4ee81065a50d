// Content blocks of a message: text, images, documents and other files, in the form of the language-model interface.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import { fileOfData, isBlank, type Marked, markOf, type PromptPart, textParts, withMark } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { type Block, blockOf, blocksIn, mediaTypeOf } from '../block-kinds.ts';

/** The parts of a content. A cache point marks the part before it; blocks of another kind have none. */
export function toParts(content: unknown): PromptPart[] {
  const parts: PromptPart[] = [];
  for (const one of blocksIn(content)) {
    const block = blockOf(one);
    if (block === undefined) continue;
    if (block.kind === 'cachePoint') markLast(parts, block);
    else parts.push(...toBlockParts(block).filter((part) => part.type !== 'text' || !isBlank(part.text)));
  }
  return parts;
}

/** Marks the last part of a list, if there is one. */
export function markLast<Part extends Marked & { readonly type: string }>(parts: Part[], { value }: Block): void {
  const last = parts.pop();
  if (last !== undefined) parts.push(withMark(last, markOf(isJsonObject(value) ? value.ttl : undefined)));
}

export const toTextParts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

/** Several parts where it is a document or a result made of texts. */
export function toBlockParts({ kind, value }: Block): PromptPart[] {
  if (kind === 'text') return textParts(value);
  if (kind === 'json') return [{ type: 'text', text: JSON.stringify(value) }];
  if (!isJsonObject(value)) return [];
  if (kind === 'image' || kind === 'video' || kind === 'audio') return toFile(kind, value);
  if (kind === 'document') return toDocument(value);
  if (kind === 'searchResult') return searchResult(value);
  if (kind === 'citationsContent') return toTextParts(value.content);
  if (kind === 'guardContent') return toGuarded(value);
  return [];
}

function toFile(kind: string, { format, source }: JsonObject): LanguageModelV4FilePart[] {
  const { bytes } = isJsonObject(source) ? source : {};
  return typeof bytes === 'string' ? [fileOfData(mediaTypeOf(kind, format), bytes)] : [];
}

function toDocument(document: JsonObject): PromptPart[] {
  const { name, context, source } = document;
  const { text, content } = isJsonObject(source) ? source : {};
  const head = [name, context].filter((one) => typeof one === 'string' && !isBlank(one)).join('\n');
  if (typeof text === 'string') return [...textParts(head), { type: 'text', text }];
  if (Array.isArray(content)) return [...textParts(head), ...toTextParts(content)];
  const files = toFile('document', document);
  return [
    ...textParts(context),
    ...files.map((file) => (typeof name === 'string' ? { ...file, filename: name } : file)),
  ];
}

const searchResult = ({ title, source, content }: JsonObject): PromptPart[] => {
  const head = [title, source].filter((text) => typeof text === 'string').join('\n');
  return [...textParts(head), ...toTextParts(content)];
};

/** Content that a guardrail of AWS is to check is content of the message. */
function toGuarded({ text, image }: JsonObject): PromptPart[] {
  if (isJsonObject(image)) return toFile('image', image);
  return isJsonObject(text) ? textParts(text.text) : [];
}
