// The query and the body of a request, checked as its route says before anything is read or changed. A name that is not known is
// refused: a filter that is dropped would show, or change, something else.
import type * as z from 'zod/mini';
import {
  type ManagementRoute,
  managementRoutes,
  type NamesOf,
  namesIn,
  type ReadBody,
  type ReadQuery,
  type RouteName,
} from '../../../shared/configuration/management/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { type GatewayRequest, readPlainBody } from '../../../shared/protocol/http/index.ts';
import type { CallMemory } from '../../../shared/protocol/memory-budget/index.ts';
import { checkMembers, readUnambiguousBody } from '../../../shared/protocol/wire/index.ts';

/** The checked inputs of a request. */
export interface CheckedRequest<Name extends RouteName> {
  /** Value in the path for each of its names, as it was sent. */
  readonly names: { readonly [One in NamesOf<Name>]: string };
  readonly query: ReadQuery<Name>;
  readonly body: ReadBody<Name>;
}

/** Throws request_too_large, or invalid_request with the name of the parameter or the path of the field. */
export async function readRequest<Name extends RouteName>(
  name: Name,
  pathParameters: readonly string[],
  http: GatewayRequest,
  memory: CallMemory,
): Promise<CheckedRequest<Name>> {
  const { query, body, bodyMaxBytes }: ManagementRoute = managementRoutes[name];
  const names = Object.fromEntries(namesIn(name).map((one, at) => [one, pathParameters[at] ?? '']));
  return {
    names,
    query: query && readQuery(http.query, query),
    body:
      body === 'gateway file'
        ? async () => (await readBytes(http, memory, bodyMaxBytes)).toString('utf8')
        : body && checkBody(await readBytes(http, memory, bodyMaxBytes), body),
  } as CheckedRequest<Name>;
}

function readQuery(query: string, schema: z.ZodMiniObject) {
  const sent = [...new URLSearchParams(query)];
  const twice = sent.find(([name], at) => sent.findIndex(([other]) => other === name) !== at)?.[0];
  if (twice !== undefined) {
    throw fail('invalid_request', { message: 'a parameter of the query is sent twice', param: twice.slice(0, 64) });
  }
  return checkMembers(schema, Object.fromEntries(sent), { faultsShown });
}

/** Of one request. */
const faultsShown = 20;

/** Enough for most changes. */
const bodyMaxBytesDefault = 64 * 1024;

async function readBytes(http: GatewayRequest, memory: CallMemory, maxBytes = bodyMaxBytesDefault): Promise<Buffer> {
  if (http.declaredBodyBytes > maxBytes) throw tooLarge(maxBytes);
  const bytes = await readPlainBody(http, memory);
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

function checkBody(bytes: Buffer, schema: z.ZodMiniObject) {
  const body = readUnambiguousBody(bytes);
  if (body.kind === 'unreadable') throw body.error;
  return checkMembers(schema, body.value, { faultsShown });
}

const tooLarge = (maxBytes: number) =>
  fail('request_too_large', { message: `The body is too large: at most ${maxBytes / 1024} KiB here.` });
