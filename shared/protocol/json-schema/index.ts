export type { AnswerCheck } from './check.ts';
export { checkRequestSchema, type SchemaOptions, type SchemaRequest } from './check-request-schema.ts';
export type { ValueProblem } from './first-problem.ts';
export { checkAnswer, checkResponseSchema, checkValue } from './on-demand.ts';
export type { SchemaFault } from './prepare-schema.ts';
