import { fail, type GatewayError } from '../../shared/errors/index.ts';
import { checkResponseSchema } from '../../shared/protocol/json-schema/index.ts';
import type { ChatRequest } from '../../shared/protocol/wire/index.ts';

/** Spec 2.1. Once a key was shown: a schema is work, and strangers get none done. */
export async function checkSchema({ responseSchema, stream }: ChatRequest): Promise<GatewayError | undefined> {
  if (responseSchema === undefined) return undefined;
  const fault = await checkResponseSchema(responseSchema);
  if (fault !== undefined) return fail('invalid_response_schema', { message: fault.message });
  return stream ? fail('schema_streaming_unsupported') : undefined;
}
