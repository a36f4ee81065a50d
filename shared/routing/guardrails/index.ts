export type * from './guard.ts';
export { openGuard } from './guard.ts';
