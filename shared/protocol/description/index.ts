export * from './json-schema.ts';
export * from './operation.ts';
