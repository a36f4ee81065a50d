export { type Bill, type Charge, openBill, type Payer } from './bill.ts';
export { unseenOutputTokens } from './billed-usage.ts';
export { type CallPrices, callPrices, comparedPrice, worstCaseCost } from './call-prices.ts';
export { noCost } from './cost.ts';
export { recordedUsage } from './recorded-usage.ts';
export { mergeUsage } from './usage-members.ts';
export { estimateInputTokens, outputBoundOf, withUnknownInput } from './worst-case.ts';
