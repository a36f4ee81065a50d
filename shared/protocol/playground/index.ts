export * from './draft.ts';
export { pythonLines } from './python-arguments.ts';
export * from './sdk-code.ts';
