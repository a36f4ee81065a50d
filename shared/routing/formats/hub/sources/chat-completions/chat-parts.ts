// Parts of a message: text, images, audio and files, as the language-model interface has them.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import { isJsonObject } from '../../../../../protocol/wire/index.ts';
import { type ContentPart, cacheMark, fileOfUrl, isBlank, textParts } from '../../middle/index.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The parts of a content, a plain text as one. A text without a visible character is left out: it says nothing, and providers
 * refuse it, although models write some themselves before they call a tool.
 */
export function toParts(content: unknown): ContentPart[] {
  if (typeof content === 'string') return textParts(content);
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return parts.flatMap((part) => {
    const read = toPart(part);
    if (read === undefined || (read.type === 'text' && isBlank(read.text))) return [];
    return [{ ...read, ...cacheMark(part.cache_control) }];
  });
}

/** Each of them is a part: texts only. */
export const toTextParts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

function toPart(part: Json): ContentPart | undefined {
  if (typeof part.text === 'string') return { type: 'text', text: part.text };
  if (typeof part.refusal === 'string') return { type: 'text', text: part.refusal };
  if (part.type === 'image_url' || part.type === 'input_image') {
    const url = isJsonObject(part.image_url) ? part.image_url.url : part.image_url;
    return typeof url === 'string' ? fileOfUrl(url, 'image') : undefined;
  }
  if (isJsonObject(part.input_audio)) return toAudio(part.input_audio);
  if (isJsonObject(part.file)) {
    const { file_data: url, filename } = part.file;
    const named = typeof filename === 'string' ? { filename } : {};
    return typeof url === 'string' ? { ...fileOfUrl(url, 'file'), ...named } : undefined;
  }
  return undefined;
}

const toAudio = ({ data, format }: Json): LanguageModelV4FilePart | undefined =>
  typeof data === 'string'
    ? { type: 'file', mediaType: `audio/${typeof format === 'string' ? format : 'wav'}`, data: { type: 'data', data } }
    : undefined;
