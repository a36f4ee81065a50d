// Makes the content parts of a message, which are text, and images and files from a data URL or from a URL that a
// provider can open.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import { imageTypeOf } from '../wire/index.ts';

export type PromptPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** True for text without a visible character. Providers refuse such text, and it has no meaning. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** Returns no part for a missing or blank text. */
export const textParts = (text: unknown): LanguageModelV4TextPart[] =>
  typeof text !== 'string' || isBlank(text) ? [] : [{ type: 'text', text }];

/** Media types by file extension, because only the end of a URL suggests its type. */
const extensionTypes: Readonly<Record<'image' | 'file', Readonly<Record<string, string>>>> = {
  image: { png: 'image/png', gif: 'image/gif', webp: 'image/webp', heic: 'image/heic', heif: 'image/heif' },
  file: { txt: 'text/plain', csv: 'text/csv', html: 'text/html' },
};
const usualTypes = { image: 'image/jpeg', file: 'application/pdf' };

/** Length of the part before the data of a data URL: a media type and its parameters. */
const dataHeadMaxCharacters = 1_024;

/** Registered names of media types for others in use, which providers refuse. */
const registeredNames: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' };

export function fileOfUrl(url: string, kind: 'image' | 'file'): LanguageModelV4FilePart {
  const head = /^data:([^,]*),/i.exec(url.slice(0, dataHeadMaxCharacters));
  if (head === null) {
    const extension = /\.(\w+)$/.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
    const mediaType = extensionTypes[kind][extension] ?? usualTypes[kind];
    return { type: 'file', mediaType, data: { type: 'url', url: new URL(url) } };
  }
  const [mediaType = '', ...parameters] = (head[1] ?? '').toLowerCase().split(';');
  const rest = url.slice(head[0].length);
  const data = parameters.includes('base64') ? rest : percentDecoded(rest).toString('base64');
  return fileOfData(registeredNames[mediaType] ?? mediaType, data);
}

/**
 * Returns the file. An image gets the type of its bytes, because providers refuse a wrong type. Line ends are removed,
 * because not every provider reads them.
 */
export function fileOfData(declared: string, written: string): LanguageModelV4FilePart {
  const data = /\s/.test(written) ? written.replaceAll(/\s+/g, '') : written;
  const mediaType = declared.startsWith('image/') ? (imageTypeOf(data) ?? declared) : declared;
  return { type: 'file', mediaType, data: { type: 'data', data } };
}

/** True if an image has a level of detail, which determines its tokens; `auto` is the models' default. */
const asksForDetail = (detail: unknown): detail is string => typeof detail === 'string' && detail !== 'auto';

export const withDetail = (image: LanguageModelV4FilePart, detail: unknown): LanguageModelV4FilePart =>
  asksForDetail(detail) ? { ...image, providerOptions: { openai: { imageDetail: detail } } } : image;

/** Decodes the bytes of a data URL, even with invalid percent signs. */
function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const high = bytes[at] === percentSign ? hexDigit(bytes[at + 1]) : -1;
    const low = high < 0 ? -1 : hexDigit(bytes[at + 2]);
    bytes[length] = low < 0 ? (bytes[at] ?? 0) : high * 16 + low;
    length += 1;
    if (low >= 0) at += 2;
  }
  return bytes.subarray(0, length);
}

const percentSign = 0x25;

function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
