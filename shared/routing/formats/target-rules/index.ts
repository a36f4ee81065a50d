export * from './ruled-messages.ts';
export * from './rules-table.ts';
