// Reads the body of a call, which is JSON or a form, as the text that its interface reads.
import { formBodyMaxBytes, plainBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { freeBytes } from '../../../shared/foundation/heap/index.ts';
import { type FormText, formBoundary, readForm } from '../../../shared/protocol/forms/index.ts';
import { type GatewayRequest, readPlainBody } from '../../../shared/protocol/http/index.ts';
import type { ClientInterface } from '../../../shared/protocol/interfaces/index.ts';
import type { CallMemory } from '../../../shared/protocol/memory-budget/index.ts';
import { type BodyText, readRequestBody } from '../../../shared/protocol/wire/index.ts';

/** Copies of a body while it becomes a text: the pieces of the text, and the whole. */
const formsBesideBytes = 2;

interface BodyOfCall {
  readonly body: BodyText | FormText;
  readonly bodyBytes: number;
  /** Bytes that are kept of it. */
  readonly bytesInUse: number;
}

/** Undefined where the body is no form, or the interface reads none. */
const boundaryIn = ({ headers }: GatewayRequest, { formFields }: ClientInterface): string | undefined =>
  formFields && formBoundary(headers['content-type']?.join(','));

export const bodyMaxBytes = (request: GatewayRequest, clientInterface: ClientInterface): number =>
  boundaryIn(request, clientInterface) === undefined ? plainBodyMaxBytes : formBodyMaxBytes;

/** Rejects as `readPlainBody` does. */
export async function readBody(
  request: GatewayRequest,
  memory: CallMemory,
  clientInterface: ClientInterface,
): Promise<BodyOfCall> {
  const boundary = boundaryIn(request, clientInterface);
  const bytes = await readPlainBody(request, memory, bodyMaxBytes(request, clientInterface));
  const bodyBytes = bytes.length;
  const { formFields } = clientInterface;
  if (boundary !== undefined && formFields !== undefined) {
    const body = await readForm(bytes, { ...clientInterface, formFields, boundary });
    if (body.kind === 'unreadable') return { body, bodyBytes, bytesInUse: 0 };
    if ('form' in body) await clientInterface.measureForm?.(body.form);
    const textBytes = Buffer.byteLength(body.json.text);
    await memory.reserve(formsBesideBytes * textBytes);
    return { body, bodyBytes, bytesInUse: bodyBytes + bytesInUseOf(body, textBytes) };
  }
  await memory.reserve(formsBesideBytes * bodyBytes);
  const body = readRequestBody(bytes, clientInterface);
  freeBytes(bytes);
  return { body, bodyBytes, bytesInUse: bytesInUseOf(body, bodyBytes) };
}

/** Each character of a text beyond ASCII may take two bytes. */
function bytesInUseOf(body: BodyText, bytes: number): number {
  if (body.kind === 'unreadable') return 0;
  const { text, tableBytes } = body.json;
  return tableBytes + (text.length === bytes ? bytes : Math.min(2 * bytes, 2 * text.length));
}
