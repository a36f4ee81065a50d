// Advice for a stage that refused calls because it is too small: which limit to raise.
import type { StageResource } from '../../../shared/foundation/constants/index.ts';

/** Limits by exhausted resource. */
const whatToRaise: Readonly<Record<StageResource, string>> = {
  service_concurrency: 'concurrency of the service, or gatewayReservedConcurrency and the quota, or max of tasks',
  service_function_concurrency: 'function_concurrency of the service',
  process_memory: 'max of tasks',
  schema_workers: 'max of tasks',
  write_queue: 'credit_shards of the workspace, or the number of keys that share its calls',
};
/** Text for an alarm. */
export const refusalAdvice = Object.entries(whatToRaise)
  .map(([resource, text]) => `${resource}: raise ${text}`)
  .join('; ');
