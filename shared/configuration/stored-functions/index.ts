export { UnusableRevisions } from './check-content.ts';
export { outputTextOf, toFunctionAnswer } from './function-answer.ts';
export type * from './function-document.ts';
export { createFunctionList, type FunctionList, isCallable, type ListedFunction } from './function-list.ts';
export { createFunctionReader, createFunctionReads, type FunctionReader } from './function-reader.ts';
export type { FunctionRecord, RevisionRecord } from './function-record.ts';
export {
  createFunctionStore,
  type FunctionStore,
  type FunctionWithContents,
  type PlannedFunction,
} from './function-store.ts';
export { CaseFailed, judgeCase, runCase } from './judge-case.ts';
export { type MatchedInput, matchInput } from './match-input.ts';
export { type OpenRevision, openRevision, parseFunctionAlias } from './open-revision.ts';
export { type FunctionRequest, promptRequest, toRequest } from './request.ts';
export { findCycle, planSteps, runWorkflow, type StepAnswer, type StepNeeds, stepsMax } from './run-workflow.ts';
export { formatReference, parseTemplate, type Reference } from './template.ts';
