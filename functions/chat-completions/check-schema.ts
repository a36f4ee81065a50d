import { fail, type GatewayError } from '../../shared/errors/index.ts';
import { checkResponseSchema, type SchemaWork } from '../../shared/protocol/json-schema/index.ts';
import type { ChatRequest } from '../../shared/protocol/wire/index.ts';

/** Spec 2.1. Behind a known key: a schema is work, which is not done for strangers. */
export async function checkSchema(
  { responseSchema, stream }: ChatRequest,
  work: SchemaWork,
): Promise<GatewayError | undefined> {
  if (responseSchema === undefined) return undefined;
  const fault = await checkResponseSchema(responseSchema, work);
  if (fault !== undefined) return fail('invalid_response_schema', { message: fault.message });
  return stream ? fail('schema_streaming_unsupported') : undefined;
}
