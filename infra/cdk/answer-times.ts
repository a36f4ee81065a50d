// Computes the times for which the components in front of the gateway wait for an answer. Does not import the CDK
// library.
import { callTimes, slowAnswerSeconds } from '../../shared/foundation/constants/index.ts';
import type { StageSettings } from './settings-schema.ts';

type TimedSettings = Pick<StageSettings, 'compute' | 'streamBudgetSeconds' | 'edge'>;

/** Returns the time limit of images, speech and transcriptions, in seconds. */
export function slowSecondsOf({ compute, streamBudgetSeconds, edge }: TimedSettings): number {
  const seconds = compute === 'container' ? Math.max(streamBudgetSeconds, slowAnswerSeconds) : streamBudgetSeconds;
  return edge === 'none' ? seconds : Math.min(seconds, slowAnswerSeconds);
}

/** Seconds from the end of a call to the end of the wait for it. */
const afterCallSeconds = 5;

export function answerTimes(settings: TimedSettings) {
  const slowSeconds = slowSecondsOf(settings);
  const { completionTimeoutSeconds, slow } = callTimes(settings.streamBudgetSeconds, slowSeconds);
  return {
    /** The longest time without a byte of the answer. */
    silenceSeconds: slowSeconds + afterCallSeconds,
    completionTimeoutSeconds,
    holdLifeMs: slow.holdLifeMs,
  };
}
