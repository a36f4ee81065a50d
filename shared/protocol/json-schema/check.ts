// What the gateway asks about schemas and about what must satisfy them. Every question ends within its bounds.
import { readAnswerText } from './answer-text.ts';
import { answerMaxDepth } from './bounds.ts';
import { firstProblem, type ValueProblem } from './first-problem.ts';
import { nestsDeeperThan, plainCopy } from './json-value.ts';
import { type PreparedSchema, prepareSchema, type SchemaFault } from './prepare-schema.ts';

export type AnswerCheck =
  /** `text`: the answer without code fence, byte order mark and surrounding whitespace, otherwise as it came. */
  | { readonly kind: 'valid'; readonly text: string }
  /** `problem` continues the sentence "The answer …" and is meant for logs. */
  | { readonly kind: 'invalid'; readonly problem: string };

export function checkResponseSchema(schema: unknown): SchemaFault | undefined {
  const found = prepareSchema(schema);
  return 'message' in found ? found : undefined;
}

export function checkAnswer(schema: unknown, answer: string): AnswerCheck {
  const prepared = prepareFaultless(schema);
  const read = readAnswerText(answer);
  if (read.kind === 'unreadable') return { kind: 'invalid', problem: read.problem };
  const problem = firstProblem(prepared, read.value);
  if (problem === undefined) return { kind: 'valid', text: read.text };
  return {
    kind: 'invalid',
    problem: `fails at ${problem.path === '' ? 'its root' : problem.path}: ${problem.message}`,
  };
}

export function checkValue(schema: unknown, value: unknown): ValueProblem | undefined {
  const prepared = prepareFaultless(schema);
  if (nestsDeeperThan(value, answerMaxDepth)) {
    return { path: '', message: `nests deeper than ${answerMaxDepth} levels` };
  }
  const plain = plainCopy(value);
  if (plain === undefined) return { path: '', message: 'is no JSON value' };
  return firstProblem(prepared, plain.copy);
}

function prepareFaultless(schema: unknown): PreparedSchema {
  const found = prepareSchema(schema);
  if ('message' in found) throw new Error(`A schema was used that has a fault: ${found.message}`);
  return found;
}
