// Converts an HTTP request to the parts that the log and a behaviour need. Sends no answer.
import type { IncomingMessage } from 'node:http';
import { type ChosenFormat, formatOfPath } from './formats/known-formats.ts';

/** Maximum body, above any gateway's request; it only prevents a runaway test from filling the memory. */
const bodyHardBytes = 64 * 1024 * 1024;

export interface ReadRequest {
  readonly provider: string;
  readonly method: string;
  readonly path: string;
  /** Query without the question mark. */
  readonly query: string;
  /** The path below the base URL. */
  readonly pathBelowBase: string;
  /** Undefined for an unknown format. */
  readonly chosen: ChosenFormat | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  /** Body of the request; undefined if the text is neither JSON nor a form. */
  readonly body: unknown;
  /** Set for a body over `bodyHardBytes`, none of which is stored. */
  readonly isTooLarge: boolean;
}

const basePath = /^(?:\/.*)?\/v1(?=\/|$)/;

export const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] ?? '/';

export async function readRequest(request: IncomingMessage): Promise<ReadRequest> {
  const path = pathOf(request);
  const method = request.method ?? 'GET';
  const base = basePath.exec(path)?.[0];
  const pathBelowBase = base === undefined ? '' : path.slice(base.length);
  const bytes = await readBytes(request);
  const bodyText = bytes?.toString('utf8') ?? '';
  const form = bytes && (await readReceivedForm(bytes, request.headers['content-type']));
  return {
    provider: /([^/]+)\/v1(?:\/|$)/.exec(path)?.[1] ?? 'simulator',
    method,
    path,
    query: (request.url ?? '').split('?').slice(1).join('?'),
    pathBelowBase,
    chosen: method === 'POST' ? formatOfPath(pathBelowBase) : undefined,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : `${value}`,
      ]),
    ),
    bodyText,
    body: form ?? parse(bodyText),
    isTooLarge: bytes === undefined,
  };
}

/** Returns undefined beyond `bodyHardBytes`. The rest is read and discarded, so that the client receives its answer. */
async function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bodyHardBytes) pieces = [];
    else pieces.push(piece);
  }
  return bytes > bodyHardBytes ? undefined : Buffer.concat(pieces);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Converts a multipart body to an object. Text stays unchanged; a file becomes its name, type and length. A repeated
// name is a list.

interface ReceivedFile {
  readonly file_name: string;
  readonly type: string;
  readonly bytes: number;
}

/** Returns undefined if the body is not a form. */
async function readReceivedForm(
  bytes: Buffer,
  contentType: string | undefined,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!/^multipart\/form-data/i.test(contentType ?? '')) return undefined;
  const answer = new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType ?? '' } });
  const form = await answer.formData().catch(() => undefined);
  if (form === undefined) return undefined;
  const names = [...new Set(form.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = form.getAll(name).map(shown);
      return [name.replace(/\[\]$/, ''), name.endsWith('[]') || values.length > 1 ? values : values[0]];
    }),
  );
}

const shown = (value: string | File): string | ReceivedFile =>
  typeof value === 'string' ? value : { file_name: value.name, type: value.type, bytes: value.size };
