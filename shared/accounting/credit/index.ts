export { type CreditAccount, shardsMax } from './credit-account.ts';
export { type CreditLedger, type CreditLedgerOptions, createCreditLedger } from './credit-ledger.ts';
export type { CreditSummary } from './credit-summary.ts';
export type { Addition } from './grants.ts';
export type { CreditHold, CreditTake } from './take-credit.ts';
