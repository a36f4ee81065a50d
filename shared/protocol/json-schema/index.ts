export { checkRequestSchema } from './check-request-schema.ts';
export { readAnswerText } from './json-in-answer.ts';
export { checkAnswer, checkResponseSchema, checkValue, type SchemaWork, startSchemaWork } from './schema-checks.ts';
