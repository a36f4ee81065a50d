export { readAnswerText } from './answer-text.ts';
export type { AnswerCheck, ValueProblem } from './check.ts';
export type { SchemaFault } from './prepare-schema.ts';
export { checkAnswer, checkResponseSchema, checkValue, type SchemaWork, startSchemaWork } from './schema-checks.ts';
