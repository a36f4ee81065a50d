export { type Bill, type Charge, openBill, type Payer } from './bill.ts';
export { readUsage, unseenOutputTokens } from './billed-usage.ts';
export { costOf, noCost } from './cost.ts';
export { recordedUsage } from './recorded-usage.ts';
export { mergeUsage } from './usage-members.ts';
export { askedOutputTokens, comparedCost, estimateInputTokens, withUnknownInput, worstCaseCost } from './worst-case.ts';
