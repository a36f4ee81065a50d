export { type Bill, type Charge, openBill, type Payer } from './bill.ts';
export { costOf, noCost } from './cost.ts';
export { sumUsage } from './sum-usage.ts';
export { readUsage } from './usage.ts';
export { mergeUsage } from './usage-members.ts';
export { askedOutputTokens, type CallSize, estimateInputTokens, worstCaseCost } from './worst-case.ts';
