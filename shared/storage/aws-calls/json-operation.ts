// The protocol of DynamoDB, KMS and Secrets Manager: a JSON object each way, the operation named in a header.
import type { AwsCall } from './aws-endpoint.ts';
import type { AwsService } from './aws-service.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** `operation` with its namespace, as in `TrentService.Decrypt`. Throws like `AwsService.call`. */
export async function callOperation(service: AwsService, operation: string, input: JsonObject): Promise<JsonObject> {
  const answer = await service.call(operationCall('1.1', operation, input));
  return readJsonAnswer(operation, answer);
}

/** `asked`: whoever answered. Throws without the parser's own error, which quotes the text: answers hold secrets. */
export function readJsonAnswer(asked: string, body: Buffer): JsonObject {
  const value = parseObject(body.toString('utf8'));
  if (value === undefined) throw new Error(`${asked} did not answer with a JSON object`);
  return value;
}

/** DynamoDB speaks version 1.0, the others 1.1. */
export const operationCall = (version: '1.0' | '1.1', operation: string, input: JsonObject): AwsCall => ({
  method: 'POST',
  path: '/',
  headers: { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': operation },
  body: Buffer.from(JSON.stringify(input)),
});

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
