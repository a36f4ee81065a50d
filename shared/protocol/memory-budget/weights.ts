// Lists the memory that calls and answers use per byte of them, in one table, by the path of a call, as measured in
// November 2026 by `npm run bench -- --only weights`.
import { type InterfaceId, servingApis } from '../../foundation/constants/index.ts';

/** Bytes of memory for each byte of a request. */
export interface RequestWeight {
  /** Bytes for each byte of its text as V8 stores it, which are two per character beyond Latin-1. */
  readonly text: number;
  /** Bytes for each byte of the table of its values, which has 20 bytes per value. */
  readonly values: number;
  /** Bytes for each byte of the form around its fields. */
  readonly form: number;
}

/** Covers memory that is collected late, and bodies of other kinds than the measured bodies. */
const margin = 1.25;
const withMargin = ({ text, values, form }: RequestWeight): RequestWeight => ({
  text: margin * text,
  values: margin * values,
  form: margin * form,
});

export const requestWeights = {
  /** A request that is read and parsed. Its bytes, the pieces of the text, and the whole text are in memory. */
  read: withMargin({ text: 2.6, values: 6, form: 1.5 }),
  /** The request's text, the rewritten text, the same with its head, and its bytes. */
  relayed: withMargin({ text: 2.8, values: 6, form: 1.5 }),
  /**
   * In addition the request's values, the package's values, their text, and that text as it is scanned. Files are
   * encoded while they are sent.
   */
  translated: withMargin({ text: 4.8, values: 11, form: 1.5 }),
  /**
   * The texts, the guardrail's request and its bytes, the guardrail's answer, and the request that is read again with
   * this answer.
   */
  guarded: withMargin({ text: 3.7, values: 7.5, form: 1.5 }),
  /** A sent request. The text and the parsed parts of the prompt stay for another provider. */
  relayedSent: { text: 1, values: 7, form: 1 },
  /** In addition the package refers to its values and their text until it returns. */
  translatedSent: { text: 4, values: 9, form: 1 },
  /** The package refers to the values until the last part of a stream is read. */
  translatedStream: { text: 1, values: 2, form: 1 },
} as const satisfies Record<string, RequestWeight>;

export type RequestPath = keyof typeof requestWeights;

/** Bytes of memory for each byte of a part of an answer. */
export const answerWeights = {
  /** The text as it arrived, the text with the gateway's own fields, and its bytes for the client. */
  relayed: 4,
  /** In addition the text that a package reads, its values, and the translated answer. */
  translated: 9,
  /** In addition to either: the texts, the guardrail's request and its bytes, and the guardrail's answer. */
  guarded: 4,
  /** A text of an answer, and nothing else. */
  text: 1,
  /**
   * An answer to a part of a call, until the answers to the other parts have arrived: its values, and their written
   * form.
   */
  ofPart: 2,
  /** A written answer: its text, and its bytes for the client. */
  written: 2,
  /** An answer loaded for a retry: its unpacked bytes, the pieces of its text, and the text. */
  replayed: 3,
  /** An answer loaded from the cache: the same, and the parsed value. */
  cached: 4,
  /** An answer while it is written to the cache: the original, the compressed text, and its bytes. */
  stored: 3,
  /** A body for the content log: its text, and the document that repeats it. */
  logged: 2,
  /** A buffered event: its bytes, its text, its values, the client's event, and the written part of it. */
  event: 9,
  /** An event that waits for its check: its text, its values, and the client's event. */
  heldEvent: 4,
  /** A text that was checked and that a later event may repeat: as it came, and as it left. */
  checkedText: 2,
} as const;

/** Bytes of the parts of an answer that are in memory. */
export type AnswerParts = { readonly [Part in keyof typeof answerWeights]?: number };

/** Returns the bytes of memory for these parts. */
export function answerBytes(parts: AnswerParts): number {
  let bytes = 0;
  for (const part in parts) {
    const name = part as keyof AnswerParts;
    bytes += answerWeights[name] * (parts[name] ?? 0);
  }
  return bytes;
}

export interface AnswerPath {
  readonly isTranslated: boolean;
  readonly isGuarded: boolean;
}

/** Returns the parts of a provider's whole answer. */
export const wholeAnswer = (bytes: number, { isTranslated, isGuarded }: AnswerPath): AnswerParts => ({
  relayed: isTranslated ? 0 : bytes,
  translated: isTranslated ? bytes : 0,
  guarded: isGuarded ? bytes : 0,
});

/** Bytes in a provider's socket while its stream is unread, which are two reads of Node. */
export const providerSocketBytes = 128 * 1024;

/**
 * Returns the bytes of a text as V8 stores it, which are two for each character of a text with characters beyond
 * Latin-1. A text with characters beyond ASCII is counted in the same way.
 */
export const textBytesInMemory = (text: string): number =>
  Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;

/** Usual share of the table of values in a body's length; below it, of the fields' texts in a form. */
const valuesShare = 0.1;
const textsShare = 0.02;

const bytesOf = ({ text, values, form }: RequestWeight, size: RequestSize): number =>
  text * size.textBytes + values * size.tableBytes + form * size.formBytes;

export interface RequestSize {
  readonly textBytes: number;
  readonly tableBytes: number;
  readonly formBytes: number;
}

/** Returns the bytes for a call on these paths, which are the most that any path needs. */
export const requestBytes = (paths: readonly RequestPath[], size: RequestSize): number =>
  Math.ceil(Math.max(...paths.map((path) => bytesOf(requestWeights[path], size))));

/**
 * Returns the paths that a call of an interface may take, to a provider with the same interface, and to other
 * providers.
 */
export function pathsOf(id: InterfaceId): readonly RequestPath[] {
  const serving = servingApis[id];
  const isTranslated = serving.throughHub.length > 0 || 'apisByKind' in serving;
  return isTranslated ? ['read', 'relayed', 'translated', 'guarded'] : ['read', 'relayed', 'guarded'];
}

/** Returns the bytes for each byte of a body that is not read yet, which are the most of any path. */
export const headWeight = (id: InterfaceId, isForm: boolean): number => mostOf(pathsOf(id), isForm);

/** Weight of an operator's request, which no provider gets. */
export const readWeight = mostOf(['read'], false);

function mostOf(paths: readonly RequestPath[], isForm: boolean): number {
  const size = isForm
    ? { textBytes: textsShare, tableBytes: 0, formBytes: 1 }
    : { textBytes: 1, tableBytes: valuesShare, formBytes: 0 };
  return Math.max(...paths.map((path) => bytesOf(requestWeights[path], size)));
}
