// Reads the body of a call, which is JSON or a form, as the text that its interface reads.
import { formBodyMaxBytes, plainBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { freeBytes } from '../../../shared/foundation/heap/index.ts';
import { type FormText, formBoundary, readForm } from '../../../shared/protocol/forms/index.ts';
import { type GatewayRequest, readPlainBody } from '../../../shared/protocol/http/index.ts';
import type { ClientInterface } from '../../../shared/protocol/interfaces/index.ts';
import {
  type BodyAllocation,
  headWeight,
  noRequest,
  openBodyAllocation,
  type RequestAllocation,
  sizeOfRequest,
} from '../../../shared/protocol/memory-budget/index.ts';
import { type BodyText, readRequestBody } from '../../../shared/protocol/wire/index.ts';

interface BodyOfCall {
  readonly body: BodyText | FormText;
  readonly bodyBytes: number;
  /** Empty where the body is unreadable. */
  readonly allocation: BodyAllocation;
}

/** Undefined where the body is no form, or the interface reads none. */
const boundaryIn = ({ headers }: GatewayRequest, { formFields }: ClientInterface): string | undefined =>
  formFields && formBoundary(headers['content-type']?.join(','));

export const bodyMaxBytes = (request: GatewayRequest, clientInterface: ClientInterface): number =>
  boundaryIn(request, clientInterface) === undefined ? plainBodyMaxBytes : formBodyMaxBytes;

/** `memory`: the whole of it is taken before the first byte is read. Rejects as `readPlainBody` does. */
export async function readBody(
  request: GatewayRequest,
  clientInterface: ClientInterface,
  allocation: RequestAllocation,
  taking: { readonly workspace: string; readonly gone: AbortSignal },
): Promise<BodyOfCall> {
  const boundary = boundaryIn(request, clientInterface);
  const { formFields } = clientInterface;
  const weight = headWeight(clientInterface.id, boundary !== undefined);
  const bytes = await readPlainBody(request, { ...taking, allocation, weight }, bodyMaxBytes(request, clientInterface));
  const bodyBytes = bytes.length;
  const allocationOf = (body: BodyText, formBytes: number): BodyAllocation => {
    if (body.kind === 'unreadable') allocation.keepOnly(0);
    const size = body.kind === 'unreadable' ? noRequest : sizeOfRequest(body.json, formBytes);
    return openBodyAllocation(allocation, taking, () => size);
  };
  if (boundary !== undefined && formFields !== undefined) {
    const body = await readForm(bytes, { ...clientInterface, formFields, boundary });
    if ('form' in body) await clientInterface.measureForm?.(body.form);
    return { body, bodyBytes, allocation: allocationOf(body, bodyBytes) };
  }
  const body = readRequestBody(bytes, clientInterface);
  freeBytes(bytes);
  return { body, bodyBytes, allocation: allocationOf(body, 0) };
}
