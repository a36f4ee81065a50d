export { type Bill, type Charge, openBill, type Payer } from './bill.ts';
export { readUsage } from './billed-usage.ts';
export { costOf, noCost } from './cost.ts';
export { sumUsage } from './sum-usage.ts';
export { unseenOutputTokens } from './unseen-output.ts';
export { mergeUsage } from './usage-members.ts';
export { askedOutputTokens, estimateInputTokens, withUnknownInput, worstCaseCost } from './worst-case.ts';
