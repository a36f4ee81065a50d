export { type CreditAccount, creditAttributes, creditCounter, creditKey } from './credit-account.ts';
export { type CreditLedger, createCreditLedger } from './credit-ledger.ts';
export { type CreditPayments, createCreditPayments } from './credit-payments.ts';
export type { CreditSummary } from './credit-summary.ts';
export type { CreditHold, CreditTake } from './take-credit.ts';
