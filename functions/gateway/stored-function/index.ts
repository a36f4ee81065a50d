// Stored functions: loaded with the first call of one.
export { execute } from './execute.ts';
export { openExecution, openedChanges } from './open-execution.ts';
