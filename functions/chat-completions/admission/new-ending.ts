import type { CallEnding, StreamTally } from '../stages.ts';

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

/** Of a stream of which nothing was relayed yet. */
export const newTally = (): StreamTally => ({
  usage: undefined,
  outputBytes: 0,
  outputBytesAfterUsage: 0,
  outputBytesAfterCount: 0,
  end: undefined,
});
