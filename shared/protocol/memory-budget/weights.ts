// What calls and answers keep in memory, for each byte of them: one table, by the path of a call. Forms of 24 MB grow a process by 1.50
// (transcriptions) to 1.65 (edits, translated) times their length, texts of 3.5 MB by 2.6 relayed and 4.7 translated (November 2026).
import { type InterfaceId, servingApis } from '../../foundation/constants/index.ts';

/** Bytes kept for each byte of a request. */
export interface RequestWeight {
  /** Bytes for each byte of its text as V8 keeps it: two a character beyond Latin-1. */
  readonly text: number;
  /** Bytes for each byte of the table of its values: 20 a value. */
  readonly values: number;
  /** Bytes for each byte of the form around its fields. */
  readonly form: number;
}

export const requestWeights = {
  /** Read and parsed: its bytes, the pieces of the text, and the whole. */
  read: { text: 3, values: 1, form: 1.5 },
  /** Its text, the one that is written anew, the same with its head, and its bytes. */
  relayed: { text: 4, values: 1, form: 1.5 },
  /** Beside them its values, those of the package, their text, and that text as it is scanned. Files are encoded as they are sent. */
  translated: { text: 8, values: 6, form: 1.5 },
  /** Its texts, what is sent to the guardrail, its bytes, what comes back, and the request that is read again with it. */
  guarded: { text: 8, values: 3, form: 1.5 },
  /** Sent: the text stays for another provider. */
  relayedSent: { text: 1, values: 1, form: 1 },
  /** The package keeps the values and their text until it returns. */
  translatedSent: { text: 3, values: 2, form: 1 },
  /** The package keeps the values until the last part of a stream is read. */
  translatedStream: { text: 1, values: 2, form: 1 },
} as const satisfies Record<string, RequestWeight>;

export type RequestPath = keyof typeof requestWeights;

/** Bytes kept for each byte of an answer. */
export const answerWeights = {
  /** The text as it came, the one with the gateway's own fields, and its bytes for the client. */
  relayed: 3,
  /** Beside them the text that a package reads, its values, and the translated answer. */
  translated: 9,
  /** Beside either: its texts, what is sent to the guardrail, its bytes, and what comes back. */
  guarded: 4,
  /** Written: its text, and its bytes for the client. */
  written: 2,
  /** Loaded for a retry: unpacked in pieces, as one piece, and as a text. */
  replayed: 3,
  /** Loaded from the cache: its pieces, one piece, the text, and the parsed value. */
  cached: 4,
  /** While it is written to the cache: the original, the text that is packed, and its bytes. */
  stored: 3,
  /** An event in hand: its bytes, its text, its values, and the client's event. */
  event: 4,
} as const;

/** Parts of a body's length that the table of its values usually takes, and of a form that are the texts of its fields. */
const valuesShare = 0.25;
const textsShare = 0.02;

const bytesOf = ({ text, values, form }: RequestWeight, size: RequestSize): number =>
  text * size.textBytes + values * size.tableBytes + form * size.formBytes;

export interface RequestSize {
  readonly textBytes: number;
  readonly tableBytes: number;
  readonly formBytes: number;
}

/** Bytes that a call of these paths keeps, of whichever most. */
export const requestBytes = (paths: readonly RequestPath[], size: RequestSize): number =>
  Math.ceil(Math.max(...paths.map((path) => bytesOf(requestWeights[path], size))));

/** The paths that a call of an interface may take: to a provider that speaks it, and to others. */
export function pathsOf(id: InterfaceId): readonly RequestPath[] {
  const serving = servingApis[id];
  const isTranslated = serving.throughHub.length > 0 || 'ofKinds' in serving;
  return isTranslated ? ['read', 'relayed', 'translated', 'guarded'] : ['read', 'relayed', 'guarded'];
}

/** Bytes for each byte of a body that is not read yet: the most of any path. */
export const headWeight = (id: InterfaceId, isForm: boolean): number => mostOf(pathsOf(id), isForm);

/** Weight of an operator's request, which goes nowhere. */
export const readWeight = mostOf(['read'], false);

function mostOf(paths: readonly RequestPath[], isForm: boolean): number {
  const size = isForm
    ? { textBytes: textsShare, tableBytes: 0, formBytes: 1 }
    : { textBytes: 1, tableBytes: valuesShare, formBytes: 0 };
  return Math.max(...paths.map((path) => bytesOf(requestWeights[path], size)));
}
