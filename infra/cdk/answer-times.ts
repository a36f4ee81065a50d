// How long what is in front of the gateway waits for an answer. Without the CDK library.
import { callTimes, slowAnswerSeconds } from '../../shared/foundation/constants/index.ts';
import type { StageSettings } from './settings-schema.ts';

type TimedSettings = Pick<StageSettings, 'compute' | 'streamBudgetSeconds' | 'edge'>;

/** Budget of images, speech and transcriptions. */
export function slowSecondsOf({ compute, streamBudgetSeconds, edge }: TimedSettings): number {
  const seconds = compute === 'container' ? Math.max(streamBudgetSeconds, slowAnswerSeconds) : streamBudgetSeconds;
  return edge === 'none' ? seconds : Math.min(seconds, slowAnswerSeconds);
}

/** From the end of a call to that of the wait for it. */
const afterCallSeconds = 5;

export function answerTimes(settings: TimedSettings) {
  const slowSeconds = slowSecondsOf(settings);
  const { completionTimeoutSeconds, slow } = callTimes(settings.streamBudgetSeconds, slowSeconds);
  return {
    /** The longest silence of an answer. */
    silenceSeconds: slowSeconds + afterCallSeconds,
    completionTimeoutSeconds,
    holdLifeMs: slow.holdLifeMs,
  };
}
