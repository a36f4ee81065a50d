import { parseFunctionAlias } from '../../../shared/configuration/stored-functions/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { functionBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What a function call must look like before anything is looked up. */
export function checkFunctionCall(
  model: string,
  idempotencyKey: string | undefined,
  bodyBytes: number,
): GatewayError | undefined {
  if (parseFunctionAlias(model) === undefined) return fail('invalid_function_alias', { param: 'model' });
  if (idempotencyKey !== undefined && !uuidPattern.test(idempotencyKey)) {
    return fail('invalid_function_alias', { message: 'The Idempotency-Key of a function call must be a UUID.' });
  }
  return bodyBytes > functionBodyMaxBytes ? fail('request_too_large') : undefined;
}
