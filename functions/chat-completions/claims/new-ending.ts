import type { CallEnding } from '../stages.ts';

export const newEnding = (): CallEnding => ({
  errorCode: undefined,
  attempts: 0,
  turn: undefined,
  upstreamMs: 0,
  queuedMs: 0,
  firstOutputAtMs: undefined,
  tally: undefined,
  namesAreSettled: false,
  storeAnswer: undefined,
  causes: [],
});
