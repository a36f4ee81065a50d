// Reads a multipart body: its parts, and its fields as one JSON text, which an interface reads like any body. A file
// becomes an object in it, with name, type, length and hash. This file is loaded on demand.
import { isUtf8 } from 'node:buffer';
import { ContentDisposition } from '@remix-run/headers/content-disposition';
import {
  MaxHeaderSizeExceededError,
  MaxPartsExceededError,
  MultipartParser,
  type MultipartPart,
} from '@remix-run/multipart-parser';
import { fail, GatewayError } from '../../errors/index.ts';
import { sha256Hex, sha256OfLong } from '../../foundation/ids/index.ts';
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import { type BodyText, readRequestBody, scanJson } from '../wire/index.ts';
import { FormBody, type FormPart, fieldOf, plainName } from './form-body.ts';
import type { FormFields, FormReading, FormText } from './form-fields.ts';

/** Maximum number of parts, which is far more than sixteen images, a mask, and each field of any interface. */
const partsMax = 256;
const headMaxBytes = 4 * 1024;
const nameMaxCharacters = 128;
/**
 * Matches quotes, and characters that escape them for some servers. With these characters a name could end early, and
 * its rest could be the name of another field.
 */
const unsafeInName = /["\\\p{Cc}]/u;
/** Matches the charsets of RFC 8187. For any other, the package would write the client's text to the log. */
const knownCharset = /^(utf-8|iso-8859-1)'/i;
/** Bound of all texts together. A prompt has 32,000 characters at most. */
const textsMaxBytes = 1024 * 1024;

/** Reads a form. Never throws, because a refused key has precedence over an invalid body. */
export async function readForm(bytes: Buffer, reading: FormReading): Promise<FormText | BodyText> {
  try {
    const parts = await readParts(bytes, reading.boundary);
    const text = await jsonOf(parts, reading);
    const body = readRequestBody(Buffer.from(text), reading);
    return body.kind === 'text' ? { ...body, form: new FormBody(parts, sha256Hex(text), bytes.length) } : body;
  } catch (cause) {
    return { kind: 'unreadable', error: cause instanceof GatewayError ? cause : refusalOf(cause) };
  }
}

const refusalOf = (cause: unknown): GatewayError => {
  const message =
    cause instanceof MaxPartsExceededError
      ? `The form has more than ${partsMax} parts.`
      : cause instanceof MaxHeaderSizeExceededError
        ? `The headers of a part of the form are longer than ${headMaxBytes} bytes.`
        : 'The body is no form of the boundary that its content-type names, or is cut.';
  return fail('invalid_request', { message, cause });
};

async function readParts(bytes: Buffer, boundary: string): Promise<readonly FormPart[]> {
  const [maxFileSize, maxTotalSize] = [bytes.length, bytes.length];
  const bounds = { maxParts: partsMax, maxHeaderSize: headMaxBytes, maxFileSize, maxTotalSize };
  if (bytes.length === 0) throw new Error('empty');
  const parts: FormPart[] = [];
  let textBytes = 0;
  for await (const part of partsInTurns(bytes, boundary, new MultipartParser(boundary, bounds))) {
    const read = readPart(part, bytes);
    if (read.fileName === undefined) textBytes += read.bytes.length;
    if (textBytes > textsMaxBytes) throw fault(read.name, `the texts of a form may have ${textsMaxBytes} bytes`);
    parts.push(read);
  }
  return parts;
}

/** Bound of a boundary with its line ends, and the headers after it. */
const partStartMaxBytes = headMaxBytes + 256;

/** Yields to other work after each part, and after each piece of a long part. */
async function* partsInTurns(bytes: Buffer, boundary: string, parser: MultipartParser) {
  for (let from = 0; from < bytes.length && !hasEnded(parser); ) {
    const to = pieceEnd(bytes, boundary, from);
    for (const part of parser.write(bytes.subarray(from, to))) {
      yield part;
      await nextTurn();
    }
    from = to;
    if (from < bytes.length) await nextTurn();
  }
  parser.finish();
}

/**
 * Returns the end of the next piece. No piece ends in the headers of a part, which the parser would copy together with
 * the piece after them.
 */
function pieceEnd(bytes: Buffer, boundary: string, from: number): number {
  const end = from + inOneTurn.passedBytes;
  if (end + partStartMaxBytes >= bytes.length) return bytes.length;
  const start = end - partStartMaxBytes;
  const line = `\r\n--${boundary}`;
  const place = bytes.subarray(start, end + line.length).lastIndexOf(line, undefined, 'latin1');
  return place === -1 ? end : start + place;
}

/** True after the last boundary; bytes after it are ignored. */
function hasEnded(parser: MultipartParser): boolean {
  try {
    parser.finish();
    return true;
  } catch {
    return false;
  }
}

function readPart(part: MultipartPart, body: Buffer): FormPart {
  const { headers } = part;
  const disposition = ContentDisposition.from(headers['content-disposition'] ?? null);
  const { name, filenameSplat: encodedName } = disposition;
  if (name === undefined || name === '') {
    throw fail('invalid_request', { message: 'A part of the form has no name.' });
  }
  if (name.length > nameMaxCharacters) {
    throw fail('invalid_request', { message: `A name in the form is longer than ${nameMaxCharacters} characters.` });
  }
  if (unsafeInName.test(name)) {
    throw fail('invalid_request', { message: 'A name in the form has a quote, a backslash or a control character.' });
  }
  if (encodedName && !knownCharset.test(encodedName)) {
    throw fault(name, 'the name of the file is in another charset than UTF-8 and ISO-8859-1');
  }
  const encoding = headers['content-transfer-encoding'] ?? 'binary';
  if (!/^(7bit|8bit|binary)$/i.test(encoding)) throw fault(name, 'content-transfer-encoding is not read');
  const bytes = bytesOf(part, body);
  const mediaType = headers['content-type'];
  return { name, fileName: disposition.preferredFilename, mediaType, bytes };
}

/** Returns a view of the part's bytes in the body, where the pieces of the part follow each other. */
function bytesOf(part: MultipartPart, body: Buffer): Uint8Array {
  const [first = new Uint8Array(0), ...rest] = part.content;
  if (rest.length === 0) return first;
  const areOfBody = part.content.every(({ buffer }) => buffer === body.buffer);
  return areOfBody ? new Uint8Array(first.buffer, first.byteOffset, part.size) : part.bytes;
}

const fault = (name: string, what: string): GatewayError =>
  fail('invalid_request', { message: `${name}: ${what}`, param: plainName(name) });

async function jsonOf(parts: readonly FormPart[], { formFields, gatewayMembers }: FormReading): Promise<string> {
  const fields = new Map<string, string[]>();
  const members: (readonly [name: string, text: () => string])[] = [];
  const gatewayParts = new Map<string, FormPart[]>();
  for (const part of parts) {
    const gatewayName = gatewayField(part, gatewayMembers);
    if (gatewayName !== undefined) {
      const known = gatewayParts.get(gatewayName);
      if (known === undefined) {
        const found = [part];
        gatewayParts.set(gatewayName, found);
        members.push([gatewayName, () => gatewayText(gatewayName, found.map(fieldText))]);
      } else known.push(part);
      continue;
    }
    const name = plainName(part.name);
    const text = part.fileName === undefined ? valueText(name, part, formFields) : await fileText(part);
    if (name === part.name) members.push([name, () => text]);
    else if (fields.has(name)) fields.get(name)?.push(text);
    else {
      const texts = [text];
      fields.set(name, texts);
      members.push([name, () => `[${texts.join(',')}]`]);
    }
  }
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text()}`).join(',')}}`;
}

const fileText = async ({ fileName, mediaType, bytes }: FormPart): Promise<string> =>
  JSON.stringify({
    file_name: fileName,
    type: mediaType,
    bytes: bytes.length,
    sha256: await sha256OfLong(bytes, inOneTurn.passedBytes, nextTurn),
  });

function fieldText({ name, bytes, fileName }: FormPart): { readonly name: string; readonly text: string } {
  if (fileName !== undefined) throw fault(name, 'must be a text, no file');
  if (!isUtf8(bytes)) throw fault(name, 'is not valid UTF-8');
  return { name, text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() };
}

const number = /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/;

function valueText(field: string, part: FormPart, { numbers, flags }: FormFields): string {
  const { text } = fieldText(part);
  const isPlain = numbers.has(field) ? number.test(text) : flags.has(field) && /^(true|false)$/.test(text);
  return isPlain ? text : JSON.stringify(text);
}

// The gateway's own fields in a form: as JSON, or in brackets, as SDKs write nested values: `provider[only][]`.

/** Returns the gateway's field to which a part belongs. */
function gatewayField({ name }: FormPart, gatewayMembers: ReadonlySet<string>): string | undefined {
  const field = fieldOf(name);
  return gatewayMembers.has(field) ? field : undefined;
}

type Tree = string | number | boolean | Tree[] | { [name: string]: Tree };

interface WrittenField {
  readonly name: string;
  readonly text: string;
}

/** Returns the value of the field as JSON. */
function gatewayText(field: string, written: readonly WrittenField[]): string {
  const [first, ...more] = written;
  if (first?.name === field) {
    if (more.length > 0) throw twice(field, field);
    return scanJson(first.text, { depthMax: depthMax }).kind === 'json' ? first.text : JSON.stringify(first.text);
  }
  const holder: Record<string, Tree> = Object.create(null);
  for (const { name, text } of written) put(holder, keysOf(field, name), leafOf(field, text), name);
  return JSON.stringify(holder[field]);
}

const depthMax = 64;
const twice = (name: string, param: string): GatewayError =>
  fail('invalid_request', { message: `${name}: stands twice`, param });

const brackets = /^(?:\[[^[\]]*\])+$/;

function keysOf(field: string, name: string): readonly string[] {
  const rest = name.slice(field.length);
  if (rest === '') throw twice(field, field);
  if (!brackets.test(rest)) {
    throw fail('invalid_request', { message: `${name}: must be written as ${field}[name][]`, param: field });
  }
  return [field, ...rest.slice(1, -1).split('][')];
}

/** Parses a value as a number in `cache`, the only field that has numbers. */
const leafOf = (field: string, text: string): Tree => {
  if (text === 'true' || text === 'false') return text === 'true';
  return field === 'cache' && /^\d{1,9}$/.test(text) ? Number(text) : text;
};

const isIndex = (key: string | undefined): boolean => key !== undefined && /^\d*$/.test(key);

function put(holder: Record<string, Tree>, [key = '', ...rest]: readonly string[], leaf: Tree, name: string): void {
  const known = holder[key];
  const param = fieldOf(name);
  if (rest.length === 0) {
    if (known !== undefined) throw twice(name, param);
    holder[key] = leaf;
  } else if (rest.length === 1 && isIndex(rest[0])) {
    if (known !== undefined && !Array.isArray(known)) throw twice(name, param);
    holder[key] = [...(known ?? []), leaf];
  } else {
    if (known !== undefined && (typeof known !== 'object' || Array.isArray(known))) throw twice(name, param);
    const inner: Record<string, Tree> = known ?? Object.create(null);
    holder[key] = inner;
    put(inner, rest, leaf, name);
  }
}
