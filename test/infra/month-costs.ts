// The costs of a month at a steady load as a whole, beside LiteLLM on ECS with RDS and Redis: list prices of November
// 2026, us-east-1. Providers' bills and the costs of a stage without calls are not included.
import { tableNames } from '../../shared/foundation/constants/index.ts';
import {
  balancerMonth,
  balancerUseMonth,
  callCosts,
  functionsMonth,
  recordBytes,
  recordLifeMonths,
  type SteadyLoad,
  smallCosts,
  tasksMonth,
  usdPrices,
  usualCall,
  writeUnitsPerCall,
} from '../support/costs.ts';

const hoursPerMonth = 730;
const million = 1_000_000;
const bytesPerGb = 1_000_000_000;

/** Auto scaling holds a table at this share of its provisioned capacity. */
export const usedShare = 0.7;
/**
 * Auto scaling leaves each table at least one unit for reads: processes read configuration, a few units in five
 * seconds.
 */
const readUnits = tableNames.length;

const millionsOf = ({ callsPerSecond }: SteadyLoad): number => (callsPerSecond * 3_600 * hoursPerMonth) / million;

/** Returns the costs of logs, bytes, CloudFront and records of 90 days, which are the same for each compute. */
function besideCompute(load: SteadyLoad): number {
  const { logs, CloudFront, ...rest } = callCosts({ ...usualCall, ...load });
  const bytes = rest['answers to clients'] + rest['prompts to providers'];
  return millionsOf(load) * (logs + bytes + CloudFront + smallCosts.recordsOfAMillionCallsAMonth);
}

export const writesOnDemandMonth = (load: SteadyLoad): number =>
  millionsOf(load) * writeUnitsPerCall * usdPrices.perMillionWriteUnits;

export function writesProvisionedMonth({ callsPerSecond }: SteadyLoad): number {
  const writeUnits = (callsPerSecond * writeUnitsPerCall) / usedShare;
  return hoursPerMonth * (writeUnits * usdPrices.perWriteUnitHour + readUnits * usdPrices.perReadUnitHour);
}

/** Tasks, database and cache of LiteLLM, for the load that its documentation states for this set-up. */
interface LiteLlmSetup {
  readonly tasks: number;
  readonly processors: number;
  readonly memoryGb: number;
  /** The price of PostgreSQL by the hour. */
  readonly database: number;
  /** Copies of the stored data: two with a standby in another zone. */
  readonly copies: number;
  /** The price of Redis by the hour. */
  readonly cache: number;
}

export const liteLlmSetups: Readonly<Record<number, LiteLlmSetup>> = {
  1: { tasks: 2, processors: 1, memoryGb: 2, database: 0.065, copies: 1, cache: 0.032 },
  100: { tasks: 2, processors: 2, memoryGb: 4, database: 0.129, copies: 2, cache: 0.065 },
  1000: { tasks: 4, processors: 4, memoryGb: 8, database: 0.337, copies: 2, cache: 2 * 0.158 },
};

export function liteLlmMonth(load: SteadyLoad, setup: LiteLlmSetup): number {
  const { tasks, processors, memoryGb, database, copies, cache } = setup;
  const task = processors * usdPrices.perTaskProcessorHour + memoryGb * usdPrices.perTaskGbHour;
  const fixed = hoursPerMonth * (tasks * (task + usdPrices.perPublicAddressHour) + database + cache) + balancerMonth;
  const { logs, ...rest } = callCosts({ ...usualCall, ...load, edge: 'none' });
  const bytes = rest['answers to clients'] + rest['prompts to providers'];
  const records = ((million * recordBytes * recordLifeMonths) / bytesPerGb) * copies * usdPrices.perDatabaseGbMonth;
  return fixed + balancerUseMonth(load) + millionsOf(load) * (logs + bytes + records);
}

/** Returns USD a month, by the kind of compute and DynamoDB's billing mode. */
export const wholeMonth = (load: SteadyLoad) => ({
  functions: functionsMonth(load) + writesOnDemandMonth(load) + besideCompute(load),
  'tasks, on demand': tasksMonth(load) + writesOnDemandMonth(load) + besideCompute(load),
  'tasks, provisioned': tasksMonth(load) + writesProvisionedMonth(load) + besideCompute(load),
});
