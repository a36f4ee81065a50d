export { shapeOf } from './shape-of.ts';
export * from './single-values.ts';
export { written } from './written.ts';
