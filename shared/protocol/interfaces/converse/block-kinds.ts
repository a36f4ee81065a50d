// Lists all content blocks of a Converse request, with the translation of each to another format. A block is an object
// with one field, which names its kind.
import { isJsonObject } from '../../wire/index.ts';
import { type PartUse, unknownPart } from '../index.ts';

const uses: Readonly<Record<string, PartUse>> = {
  text: 'carried',
  image: 'carried',
  document: 'carried',
  video: 'carried',
  audio: 'carried',
  toolUse: 'carried',
  toolResult: 'carried',
  reasoningContent: 'carried',
  citationsContent: 'carried',
  searchResult: 'carried',
  guardContent: 'carried',
  cachePoint: 'carried',
  /** Occurs in results. */
  json: 'carried',
  toolAddition: { needs: 'tools' },
  toolRemoval: { needs: 'tools' },
};

export interface Block {
  readonly kind: string;
  readonly value: unknown;
}

/** Returns undefined for an object without a field. Of several fields the first counts, as in the SDK. */
export function blockOf(block: unknown): Block | undefined {
  if (!isJsonObject(block)) return undefined;
  for (const kind of Object.keys(block)) if ((block[kind] ?? null) !== null) return { kind, value: block[kind] };
  return undefined;
}

export const useOf = ({ kind }: Block): PartUse =>
  Object.hasOwn(uses, kind) ? (uses[kind] ?? unknownPart) : unknownPart;

export const blocksIn = (content: unknown): readonly unknown[] => (Array.isArray(content) ? content : []);

export const converseRoles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);

/** Media types by the format that a block names. */
const mediaTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  csv: 'text/csv',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  html: 'text/html',
  txt: 'text/plain',
  md: 'text/markdown',
};
const namedTypes: Readonly<Record<string, string>> = {
  three_gp: 'video/3gpp',
  mkv: 'video/x-matroska',
  mov: 'video/quicktime',
  flv: 'video/x-flv',
  wmv: 'video/x-ms-wmv',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  'x-aac': 'audio/aac',
};

/** Returns the type of an image, a document, a video or audio. A document without a format is a text. */
export function mediaTypeOf(kind: string, format: unknown): string {
  const word = typeof format === 'string' ? format.toLowerCase() : '';
  if (kind === 'document') return mediaTypes[word] ?? (word === '' ? 'text/plain' : `application/${word}`);
  return namedTypes[word] ?? `${kind}/${word}`;
}
