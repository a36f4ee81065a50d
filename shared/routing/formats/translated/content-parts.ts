// Parts of a message: text, images, audio and files, as the language-model interface has them.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isJsonObject } from '../../../protocol/wire/index.ts';

export type ContentPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

type Json = Readonly<Record<string, unknown>>;

/**
 * The parts of a content, a plain text as one. A text without a visible character is left out: it says nothing, and providers
 * refuse it, although models write some themselves before they call a tool.
 */
export function toParts(content: unknown): ContentPart[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return parts.flatMap((part) => {
    const read = toPart(part);
    if (read === undefined || (read.type === 'text' && isBlank(read.text))) return [];
    return [{ ...read, ...optionsOf(part) }];
  });
}

const isBlank = (text: string): boolean => text.trim() === '';

/** Each of them is a part: texts only. */
export const toTextParts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

function toPart(part: Json): ContentPart | undefined {
  if (typeof part.text === 'string') return { type: 'text', text: part.text };
  if (typeof part.refusal === 'string') return { type: 'text', text: part.refusal };
  if (part.type === 'image_url' || part.type === 'input_image') {
    return toFile(isJsonObject(part.image_url) ? part.image_url.url : part.image_url, imageTypes, 'image/jpeg');
  }
  if (isJsonObject(part.input_audio)) return toAudio(part.input_audio);
  if (isJsonObject(part.file)) {
    const file = toFile(part.file.file_data, fileTypes, 'application/pdf');
    return file && { ...file, ...(typeof part.file.filename === 'string' ? { filename: part.file.filename } : {}) };
  }
  return undefined;
}

const toAudio = ({ data, format }: Json): LanguageModelV4FilePart | undefined =>
  typeof data === 'string'
    ? { type: 'file', mediaType: `audio/${typeof format === 'string' ? format : 'wav'}`, data: { type: 'data', data } }
    : undefined;

/** Of a URL only its end tells what it leads to. */
const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
};
const fileTypes: Readonly<Record<string, string>> = { txt: 'text/plain', csv: 'text/csv', html: 'text/html' };

function toFile(
  url: unknown,
  types: Readonly<Record<string, string>>,
  otherwise: string,
): LanguageModelV4FilePart | undefined {
  if (typeof url !== 'string') return undefined;
  const head = /^data:([^,]*),/i.exec(url.slice(0, dataHeadMaxCharacters));
  if (head === null) {
    const extension = /\.(\w+)$/.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
    return { type: 'file', mediaType: types[extension] ?? otherwise, data: { type: 'url', url: new URL(url) } };
  }
  const [mediaType = '', ...parameters] = (head[1] ?? '').toLowerCase().split(';');
  const rest = url.slice(head[0].length);
  const data = parameters.includes('base64') ? rest : percentDecoded(rest).toString('base64');
  return { type: 'file', mediaType: registeredNames[mediaType] ?? mediaType, data: { type: 'data', data } };
}

/** The bytes that a data URL stands for, however many of its percent signs are odd. */
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

/** What stands before the data of a data URL is a media type and its parameters. */
const dataHeadMaxCharacters = 1_024;

/** Names in use that providers refuse. */
const registeredNames: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' };

/** `cache_control` of a part, of a tool, or of a message. */
export function optionsOf({ cache_control: control }: Json): { providerOptions?: SharedV4ProviderOptions } {
  if (!isJsonObject(control) || control.type !== 'ephemeral') return {};
  const ttl = typeof control.ttl === 'string' ? { ttl: control.ttl } : {};
  return {
    providerOptions: {
      anthropic: { cacheControl: { type: 'ephemeral', ...ttl } },
      amazonBedrock: { cachePoint: { type: 'default', ...ttl } },
    },
  };
}
