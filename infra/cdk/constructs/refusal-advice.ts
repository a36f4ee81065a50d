// What an operator raises where a stage refused calls because it is too small.
import type { StageResource } from '../../../shared/foundation/constants/index.ts';

/** By what is exhausted. */
const whatToRaise: Readonly<Record<StageResource, string>> = {
  service_concurrency: 'concurrency of the service, or gatewayReservedConcurrency and the quota, or max of tasks',
  service_function_concurrency: 'function_concurrency of the service',
  process_memory: 'max of tasks',
  schema_workers: 'max of tasks',
  write_queue: 'credit_shards of the workspace, or the number of keys that share its calls',
};
/** For the text of an alarm. */
export const refusalAdvice = Object.entries(whatToRaise)
  .map(([resource, text]) => `${resource}: raise ${text}`)
  .join('; ');
