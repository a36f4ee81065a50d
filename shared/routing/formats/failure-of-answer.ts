// Converts a whole answer that is invalid to a failure of its attempt.
import type { ReadAnswer } from '../../protocol/wire/index.ts';
import { classifyErrorObject, type DescribeText, type NoAnswer } from '../providers/index.ts';

export function failureOfAnswer(read: Exclude<ReadAnswer, { kind: 'answer' }>, describe: DescribeText): NoAnswer {
  if (read.kind === 'error') {
    return { kind: 'failure', failure: { ...classifyErrorObject(read.error), providerText: describe(read.error) } };
  }
  if (read.kind === 'unreadable') return unreadableAnswer;
  return { kind: 'failure', failure: { kind: 'failed', cause: 'answer_too_large', unusedAnswer: read.refused } };
}

export const unreadableAnswer: NoAnswer = { kind: 'failure', failure: { kind: 'failed', cause: 'unreadable_answer' } };
