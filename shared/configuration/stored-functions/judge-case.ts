// Qualification: compares an answer with what a test case expects. Pure.
import { canonicalJson } from '../../foundation/ids/index.ts';
import { checkAnswer } from '../../protocol/json-schema/index.ts';
import { jsonIn } from './function-answer.ts';
import type { Expectation } from './function-document.ts';

export type CaseVerdict =
  | { readonly passed: true }
  /** Continues the sentence "The answer …"; for the operator. */
  | { readonly passed: false; readonly problem: string };

/** All that is expected must hold. `outputText` undefined: the answer holds no text. */
export async function judgeCase(
  { schema, equals, contains }: Expectation,
  outputText: string | undefined,
): Promise<CaseVerdict> {
  if (outputText === undefined) return failed('holds no text');
  if (contains !== undefined && !outputText.includes(contains)) return failed('does not contain the expected text');
  if (equals !== undefined && !(await isEqual(equals, outputText))) return failed('does not equal the expected value');
  if (schema === undefined) return { passed: true };
  const checked = await checkAnswer(schema, outputText);
  return checked.kind === 'valid' ? { passed: true } : failed(checked.problem);
}

/** Texts are compared without the blanks around them, other values as JSON in any order of members. */
async function isEqual(expected: unknown, outputText: string): Promise<boolean> {
  if (typeof expected === 'string') return outputText.trim() === expected.trim();
  const value = jsonIn(outputText);
  return value !== undefined && canonicalJson(value) === canonicalJson(expected);
}

const failed = (problem: string): CaseVerdict => ({ passed: false, problem });
