export { type Bill, type Charge, openBill, type Payer } from './bill.ts';
export { type Cost, costOf, noCost } from './cost.ts';
export { sumUsage } from './sum-usage.ts';
export { type BilledUsage, hasCounts, type ObservedBytes, readUsage } from './usage.ts';
export { type Charged, mergeUsage, type ServedBy } from './usage-members.ts';
export { type CallSize, type OutputSize, worstCaseCost } from './worst-case.ts';
