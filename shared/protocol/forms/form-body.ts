// Reads a multipart body: its parts, as views of the received bytes, and the body that a provider gets of them.
import type { Base64Of } from '../../foundation/outgoing/index.ts';

export interface FormPart {
  /** Name as the client wrote it, brackets included. */
  readonly name: string;
  /** Name of the file; absent for a field that is none. */
  readonly fileName?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly bytes: Uint8Array;
}

/** A form for a provider. */
export interface MultipartBody {
  readonly parts: readonly FormPart[];
  readonly boundary: string;
}

/** A JSON text with placeholders in the places of files, which a provider gets as base64. */
export interface TextWithFiles {
  readonly text: string;
  /** Files by their placeholders, each of which occurs in the text once. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export class FormBody {
  #parts: readonly FormPart[];
  readonly #digest: string;
  /** Bytes of the body, which stays in memory as long as a part of the body does. */
  readonly byteLength: number;
  /** Length of its audio, if its interface measures it. */
  seconds: number | undefined;

  /** `digest` is a hash over names, types and contents of all parts. */
  constructor(parts: readonly FormPart[], digest: string, byteLength: number) {
    this.#parts = parts;
    this.#digest = digest;
    this.byteLength = byteLength;
  }

  /** The parts; empty once the bytes were freed. */
  get parts(): readonly FormPart[] {
    return this.#parts;
  }

  /** Returns the files of a field, in their order. */
  filesOf(name: string): readonly FormPart[] {
    return this.#parts.filter((part) => part.fileName !== undefined && plainName(part.name) === name);
  }

  /**
   * Returns the form with other texts in its fields, by their plain names: one text for each part that is not a file.
   */
  withTexts(texts: ReadonlyMap<string, readonly string[]>): FormBody {
    const written = new Map<string, number>();
    const parts = this.#parts.map((part) => {
      const name = plainName(part.name);
      const place = written.get(name) ?? 0;
      const text = part.fileName === undefined ? texts.get(name)?.[place] : undefined;
      written.set(name, place + 1);
      return text === undefined ? part : textPart(part.name, text);
    });
    const form = new FormBody(parts, this.#digest, this.byteLength);
    form.seconds = this.seconds;
    return form;
  }

  /** Frees the bytes, which may not be read any more. */
  letGo(): void {
    this.#parts = [];
  }

  /**
   * Returns the parts without the parts of the fields `without`, and with other texts for some fields, which are added
   * if the form lacks them.
   */
  rewritten(texts: ReadonlyMap<string, string>, without: ReadonlySet<string>): MultipartBody {
    const written = new Set<string>();
    const parts = this.#parts.flatMap((part): FormPart[] => {
      const text = texts.get(part.name);
      if (text === undefined) return without.has(fieldOf(part.name)) ? [] : [part];
      if (written.has(part.name)) return [];
      written.add(part.name);
      return [textPart(part.name, text)];
    });
    const addedParts = [...texts].filter(([name]) => !written.has(name)).map(([name, text]) => textPart(name, text));
    // The boundary contains the digest of all parts, which no part can contain.
    return { parts: [...addedParts, ...parts], boundary: `gw-${this.#digest.slice(0, boundaryDigits)}` };
  }
}

const boundaryDigits = 40;

const textPart = (name: string, text: string): FormPart => ({ name, bytes: Buffer.from(text) });

/** Returns a name without its brackets, because `image[]` is one of several values of `image`. */
export const plainName = (name: string): string => (name.endsWith('[]') ? name.slice(0, -2) : name);

/** Returns the outer field, such as `provider` for `provider[only][]`. */
export const fieldOf = (name: string): string => name.replace(/\[.*$/s, '');

/** Returns the body in pieces, which are not copied, and its media type. */
export function encodeMultipart({ parts, boundary }: MultipartBody): {
  readonly contentType: string;
  readonly pieces: readonly Uint8Array[];
} {
  const pieces = parts.flatMap((part, at) => [
    Buffer.from(`${at === 0 ? '' : '\r\n'}--${boundary}\r\n${headOf(part)}\r\n\r\n`),
    part.bytes,
  ]);
  pieces.push(Buffer.from(`\r\n--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, pieces };
}

/** Returns the text in pieces with its files between them, which are not copied. */
export function piecesOf({ text, files }: TextWithFiles): readonly (string | Base64Of)[] {
  const placed = [...files].map(([word, bytes]) => ({ word, bytes, at: text.indexOf(word) }));
  const pieces: (string | Base64Of)[] = [];
  let from = 0;
  for (const { word, bytes, at } of placed.filter((file) => file.at !== -1).sort((one, other) => one.at - other.at)) {
    pieces.push(text.slice(from, at), { base64Of: bytes });
    from = at + word.length;
  }
  return [...pieces, text.slice(from)];
}

function headOf({ name, fileName, mediaType }: FormPart): string {
  const file = fileName === undefined ? '' : `; filename="${quotable(fileName)}"`;
  const type = mediaType === undefined ? '' : `\r\ncontent-type: ${mediaType}`;
  return `content-disposition: form-data; name="${quotable(name)}"${file}${type}`;
}

/** Escapes a name as browsers do. */
const quotable = (text: string): string => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
