export { shapeOf } from './shape-of.ts';
export * from './single-values.ts';
export { withoutUndefined } from './written.ts';
