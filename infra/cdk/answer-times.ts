// How long what is in front of the gateway waits for an answer. Without the CDK library.
import { callTimes } from '../../shared/foundation/constants/index.ts';
import type { StageSettings } from './settings-schema.ts';

/**
 * A whole image, speech or transcription sends nothing until it is complete, and may take as long as a stream; behind a
 * distribution this long at most, as CloudFront bears a silence of 120 s. Tasks give them this time whatever their
 * streams have.
 */
const wholeMaxSeconds = 110;
/** From the end of a call to that of the wait for it. */
const afterCallSeconds = 5;

export function answerTimes({ compute, streamBudgetSeconds }: Pick<StageSettings, 'compute' | 'streamBudgetSeconds'>) {
  const longestSeconds = compute === 'container' ? Math.max(streamBudgetSeconds, wholeMaxSeconds) : streamBudgetSeconds;
  const { completionTimeoutSeconds, holdLifeMs } = callTimes(longestSeconds);
  return {
    /** The longest silence of an answer. */
    silenceSeconds: Math.min(longestSeconds, wholeMaxSeconds) + afterCallSeconds,
    completionTimeoutSeconds,
    holdLifeMs,
  };
}
