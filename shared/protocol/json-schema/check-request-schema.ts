import { fail, type GatewayError } from '../../errors/index.ts';
import { checkResponseSchema, type SchemaWork } from './schema-checks.ts';

interface SchemaRequest {
  readonly responseSchema?: unknown;
  readonly stream: boolean;
}

interface SchemaOptions {
  /** True if a streamed answer is checked against the schema at its end. */
  readonly allowsStream: boolean;
  readonly work: SchemaWork;
}

/** Checks the schema of a request; called only for a key that exists, because checking is work. */
export function checkRequestSchema(
  { responseSchema, stream }: SchemaRequest,
  { allowsStream, work }: SchemaOptions,
): Promise<GatewayError | undefined> | undefined {
  if (responseSchema === undefined) return undefined;
  return checkResponseSchema(responseSchema, work).then((fault) => {
    if (fault !== undefined) return fail('invalid_response_schema', { message: fault.message });
    return stream && !allowsStream ? fail('schema_streaming_unsupported') : undefined;
  });
}
