// Who asks. Read from the store with every request, before anything else of the request is looked at.
import {
  authenticateOperator,
  type OperatorRecord,
  type OperatorStore,
  readCredential,
} from '../../../shared/configuration/keys/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';

interface Dependencies {
  readonly operators: OperatorStore;
  readonly clock: Clock;
}

/** Throws in this order: key, correlation headers. */
export async function identifyOperator(
  { operators, clock }: Dependencies,
  { headers }: GatewayRequest,
  { correlationFault, logContext }: RequestScope,
): Promise<OperatorRecord> {
  const credential = readCredential(headers);
  // What the store cannot answer within two seconds is not waited for.
  const operator = await startAdmissionTime(clock).wait(authenticateOperator(operators, credential));
  logContext.fields = { ...logContext.fields, operator_id: operator.publicId, operator_name: operator.name };
  if (correlationFault !== undefined) throw correlationFault;
  return operator;
}
