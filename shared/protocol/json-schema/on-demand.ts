// The way into this room. What stands behind it, the validator included, is loaded with the first schema that comes:
// most requests bring none, and a cold start should not pay for it.
import type { AnswerCheck } from './check.ts';
import type { ValueProblem } from './first-problem.ts';
import type { SchemaFault } from './prepare-schema.ts';

const load = () => import('./check.ts');

/**
 * Why this cannot be the schema of an answer or of an input (contract 3), or undefined when it can. A schema must not be
 * changed after it was handed in: it is prepared once for as long as its object lives.
 */
export const checkResponseSchema = async (schema: unknown): Promise<SchemaFault | undefined> =>
  (await load()).checkResponseSchema(schema);

/** Checks the text of one answer. Rejects when the schema has a fault: `checkResponseSchema` comes first. */
export const checkAnswer = async (schema: unknown, answer: string): Promise<AnswerCheck> =>
  (await load()).checkAnswer(schema, answer);

/** Checks a parsed value, numbers kept as text included. Rejects when the schema has a fault. */
export const checkValue = async (schema: unknown, value: unknown): Promise<ValueProblem | undefined> =>
  (await load()).checkValue(schema, value);
