// The query and the body of a request, checked before anything is read or changed. A name that is not known is refused: a filter
// that is dropped would show, or change, something else.
import type * as z from 'zod/mini';
import { fail } from '../../../shared/errors/index.ts';
import { readPlainBody } from '../../../shared/protocol/http/index.ts';
import { checkMembers, readUnambiguousBody } from '../../../shared/protocol/wire/index.ts';
import type { ManageRequest } from './manage.ts';

/** Throws invalid_request with the name of the parameter. */
export function readQuery<Shape extends z.ZodMiniObject>({ query }: ManageRequest, schema: Shape): z.output<Shape> {
  const sent = [...new URLSearchParams(query)];
  const twice = sent.find(([name], at) => sent.findIndex(([other]) => other === name) !== at)?.[0];
  if (twice !== undefined) {
    throw fail('invalid_request', { message: 'a parameter of the query is sent twice', param: twice.slice(0, 64) });
  }
  return checkMembers(schema, Object.fromEntries(sent));
}

/** What most changes need at the most. */
const bodyMaxBytes = 64 * 1024;

/** Throws request_too_large, or invalid_request with the path of the member. */
export async function readBody<Shape extends z.ZodMiniObject>(
  request: ManageRequest,
  schema: Shape,
  maxBytes = bodyMaxBytes,
): Promise<z.output<Shape>> {
  const body = readUnambiguousBody(await readBytes(request, maxBytes));
  if (body.kind === 'unreadable') throw body.error;
  return checkMembers(schema, body.value);
}

/** Throws request_too_large. */
export async function readBytes({ http, memory }: ManageRequest, maxBytes: number): Promise<Buffer> {
  if (http.declaredBodyBytes > maxBytes) throw tooLarge(maxBytes);
  const bytes = await readPlainBody(http, memory);
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

const tooLarge = (maxBytes: number) =>
  fail('request_too_large', { message: `The body is too large: at most ${maxBytes / 1024} KiB here.` });
