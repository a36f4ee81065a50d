export { readAnswerText } from './answer-text.ts';
export { checkRequestSchema } from './check-request-schema.ts';
export { checkAnswer, checkResponseSchema, checkValue, type SchemaWork, startSchemaWork } from './schema-checks.ts';
