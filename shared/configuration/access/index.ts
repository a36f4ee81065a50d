export * from './access-rule.ts';
export { type AccessStore, createAccessStore } from './access-store.ts';
