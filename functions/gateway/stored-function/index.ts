// Exports the stored functions. Loaded with the first call of a function.
export { execute } from './execute.ts';
export { openExecution, openedChanges } from './open-execution.ts';
