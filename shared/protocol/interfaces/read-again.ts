// Reads a request again after the gateway has changed it, because its preset was merged in, or its texts were masked.
import { GatewayError } from '../../errors/index.ts';
import type { FormBody } from '../forms/index.ts';
import { type BodyAllocation, sizeOfRequest } from '../memory-budget/index.ts';
import { readRequestBody } from '../wire/index.ts';
import { type BodyMemory, openBodyMemory } from './body-memory.ts';
import type { CallPath, ClientInterface, ClientRequest, PassedOn } from './client-interface.ts';
import { betasIn } from './plain-members.ts';

interface ReadingAgain {
  /** Memory of the request that is replaced. */
  readonly allocation: BodyAllocation;
  readonly dropsUnusedFields: boolean;
  readonly passedOn: PassedOn;
  readonly path: CallPath | undefined;
  /** The form with the same changes, if the body is a form. */
  readonly form?: FormBody | undefined;
}

export function readAgain(
  clientInterface: ClientInterface,
  text: string,
  { allocation, dropsUnusedFields, passedOn, path, form }: ReadingAgain,
): { readonly request: ClientRequest; readonly bodyMemory: BodyMemory } | GatewayError {
  const bytes = Buffer.from(text);
  const body = readRequestBody(bytes, clientInterface);
  if (body.kind === 'unreadable') return body.error;
  const reading = { bodyBytes: bytes.length, dropsUnusedFields, betas: betasIn(passedOn), path, form };
  const request = clientInterface.readRequest(body.json, reading);
  if (request instanceof GatewayError) return request;
  const size = sizeOfRequest(body.json, form?.byteLength);
  return { request, bodyMemory: openBodyMemory(request, allocation.resized(size)) };
}
