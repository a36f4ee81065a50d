// The protocol of KMS and Secrets Manager: a JSON object each way, the operation named in a header.
import type { AwsService } from './aws-service.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** `operation` with its namespace, as in `TrentService.Decrypt`. Throws like `AwsService.call`. */
export async function callOperation(service: AwsService, operation: string, input: JsonObject): Promise<JsonObject> {
  const answer = await service.call({
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': operation },
    body: Buffer.from(JSON.stringify(input)),
  });
  const value = parseObject(answer.toString('utf8'));
  // Without the parser's own error, which quotes the text: answers hold secrets.
  if (value === undefined) throw new Error(`${operation} did not answer with a JSON object`);
  return value;
}

/** Undefined: this is no JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
