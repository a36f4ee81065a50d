export { type FunctionAlias, parseFunctionAlias } from './alias.ts';
export { checkInput, type FunctionInput } from './declared-input.ts';
export type * from './document.ts';
export { type ExecutionFacts, type FunctionResult, outputTextOf, toFunctionAnswer } from './function-answer.ts';
export { createFunctionReader, type FunctionReader, type FunctionReaderOptions } from './function-reader.ts';
export type { FunctionRecord, RevisionRecord } from './function-record.ts';
export {
  createFunctionStore,
  type FunctionStore,
  type QualifiedRevision,
  type ShownFunction,
} from './function-store.ts';
export { type CaseVerdict, judgeCase } from './judge-case.ts';
export { type MatchedInput, matchInput } from './match-input.ts';
export { type FoundFunction, type OpenRevision, openRevision, type RevisionFacts } from './open-revision.ts';
export { type PlannedStep, planSteps, type StepPlan } from './plan-steps.ts';
export { type FunctionRequest, promptRequest, toRequest } from './request.ts';
export { type CallStep, runWorkflow, type StepAnswer, type WorkflowResult } from './run-workflow.ts';
export { findCircle, type StepNeeds, stepsMax } from './step-graph.ts';
export { formatReference, type ParsedTemplate, parseTemplate, type Reference, type TemplatePart } from './template.ts';
export type { FunctionChange } from './write-function.ts';
