// Computes the variables that follow from the settings of a stage alone. Does not import the CDK library, because the
// bench runs a gateway under these variables.
import { environmentNames, streamBudget } from '../../shared/foundation/constants/index.ts';
import { slowSecondsOf } from './answer-times.ts';
import { callsPerTask, tasksDefault } from './constructs/task-size.ts';
import { defaultAccountConcurrency, type StageSettings } from './settings-schema.ts';

/** Returns the concurrent calls of the stage, from which the gateway's own limits follow. */
export function concurrencyVariables(settings: StageSettings): Readonly<Record<string, string>> {
  const { compute, gatewayReservedConcurrency, accountConcurrency, tasks = tasksDefault } = settings;
  const functionCalls = gatewayReservedConcurrency ?? accountConcurrency ?? defaultAccountConcurrency;
  const calls = compute === 'container' ? tasks.max * callsPerTask(tasks) : functionCalls;
  return { [environmentNames.stageConcurrency]: String(calls) };
}

/**
 * Returns the request rate of keys. A key that sends too many requests slows the other keys of its partition, so every
 * key has a rate: its own, or this rate.
 */
export const keyRateVariables = ({ keyRequestsPerMinute: rate }: StageSettings): Readonly<Record<string, string>> =>
  rate == null ? {} : { [environmentNames.keyRequestsPerMinute]: String(rate) };

export const tableSuffixVariables = ({ tableSuffix }: StageSettings): Readonly<Record<string, string>> =>
  tableSuffix === undefined ? {} : { [environmentNames.tableSuffix]: tableSuffix };

/** Returns the time limits that differ from the defaults. */
export function budgetVariables(settings: StageSettings): Readonly<Record<string, string>> {
  const { streamBudgetSeconds: seconds } = settings;
  const slowSeconds = slowSecondsOf(settings);
  return {
    ...(seconds !== streamBudget.defaultSeconds && { [environmentNames.streamBudgetSeconds]: String(seconds) }),
    ...(slowSeconds !== seconds && { [environmentNames.slowAnswerSeconds]: String(slowSeconds) }),
  };
}
