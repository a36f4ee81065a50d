export { readAnswerText } from './answer-text.ts';
export { checkAnswer, checkResponseSchema, checkValue, type SchemaWork, startSchemaWork } from './schema-checks.ts';
