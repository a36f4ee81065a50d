export * from './draft.ts';
export * from './sdk-code.ts';
