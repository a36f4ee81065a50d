export { type Bill, type Charge, openBill, type Payer } from './bill.ts';
export { readUsage, unseenOutputTokens } from './billed-usage.ts';
export { type CallPrices, callPrices, comparedPrice, worstCaseCost } from './call-prices.ts';
export { costOf, noCost } from './cost.ts';
export { recordedUsage } from './recorded-usage.ts';
export { mergeUsage } from './usage-members.ts';
export { estimateInputTokens, outputBoundOf, withUnknownInput } from './worst-case.ts';
