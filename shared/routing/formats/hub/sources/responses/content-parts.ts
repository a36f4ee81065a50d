// Parts of messages and of outputs of tools: text, images, audio and files, as the language-model interface has them.
import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import { isJsonObject } from '../../../../../protocol/wire/index.ts';
import { type ContentPart, fileOfUrl, textParts } from '../../middle/index.ts';

type Json = Readonly<Record<string, unknown>>;

/** The parts of a content, a plain text as one. */
export function toParts(content: unknown): ContentPart[] {
  if (typeof content === 'string') return textParts(content);
  if (isJsonObject(content)) return toPart(content);
  return (Array.isArray(content) ? content.filter(isJsonObject) : []).flatMap(toPart);
}

export const toTexts = (content: unknown): string[] =>
  toParts(content).flatMap((part) => (part.type === 'text' ? [part.text] : []));

function toPart(part: Json): ContentPart[] {
  const { type, text, refusal, image_url: image, filename } = part;
  if (type === 'input_image' || type === 'computer_screenshot') return toFile(image, 'image');
  if (type === 'input_audio') return toAudio(part.input_audio);
  if (type === 'input_file') {
    const named = typeof filename === 'string' ? { filename } : {};
    return toFile(asDataUrl(part.file_data) ?? part.file_url, 'file').map((file) => ({ ...file, ...named }));
  }
  return textParts(text ?? refusal);
}

/** What is no data URL is taken for the most usual file. */
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
