// Qualifies a revision. Runs a test case, and compares its answer with its expectations. Pure except for the calls,
// which are passed in.
import { canonicalJson } from '../../foundation/ids/index.ts';
import { checkAnswer } from '../../protocol/json-schema/index.ts';
import { jsonIn } from './function-answer.ts';
import type { Expectation, RevisionContent, TestCase } from './function-document.ts';
import { checkInput } from './read-input.ts';
import { type FunctionRequest, promptRequest } from './request.ts';
import { runWorkflow } from './run-workflow.ts';

type CaseVerdict =
  | { readonly passed: true }
  /** Continues the sentence "The answer …"; for the operator. */
  | { readonly passed: false; readonly problem: string };

interface CaseOutcome {
  /** Text of the answer; undefined when it contains none. */
  readonly output: string | undefined;
  /** A sentence for the operator; undefined if the case passed. */
  readonly problem: string | undefined;
}

/** Thrown when a call of a test case gave no answer that can be judged. The message is for the operator. */
export class CaseFailed extends Error {
  override readonly name = 'CaseFailed';
}

/**
 * Runs a case. `textOf` makes a call and returns its text, if there is one. Throws its errors, and an error if the
 * input does not fit.
 */
export async function runCase(
  content: RevisionContent,
  { input, expect }: TestCase,
  textOf: (request: FunctionRequest) => Promise<string | undefined>,
): Promise<CaseOutcome> {
  await checkInput(content, input);
  const matched = { input, passed: {} };
  const output = await (content.kind === 'prompt'
    ? textOf(promptRequest(content, matched))
    : runWorkflow(content, matched, async ({ id }, request) => {
        const text = await textOf(request);
        if (text === undefined) throw new CaseFailed(`step ${id} answered without a text`);
        return { output: text };
      }).then((last) => last.output));
  const verdict = await judgeCase(expect, output);
  return { output, problem: verdict.passed ? undefined : `the answer ${verdict.problem}` };
}

/** Judges a case, all of whose expectations must be met. `outputText` is undefined when the answer contains no text. */
export async function judgeCase(
  { schema, equals, contains }: Expectation,
  outputText: string | undefined,
): Promise<CaseVerdict> {
  if (outputText === undefined) return failed('holds no text');
  if (contains !== undefined && !outputText.includes(contains)) return failed('does not contain the expected text');
  if (equals !== undefined && !(await isEqual(equals, outputText))) return failed('does not equal the expected value');
  if (schema === undefined) return { passed: true };
  const result = await checkAnswer(schema, outputText);
  return result.kind === 'valid' ? { passed: true } : failed(result.problem);
}

/** Compares texts without surrounding blanks, and other values as JSON with fields in any order. */
async function isEqual(expected: unknown, outputText: string): Promise<boolean> {
  if (typeof expected === 'string') return outputText.trim() === expected.trim();
  const value = jsonIn(outputText);
  return value !== undefined && canonicalJson(value) === canonicalJson(expected);
}

const failed = (problem: string): CaseVerdict => ({ passed: false, problem });
