// Providers that take their time, and providers that never end.
import { type Behaviour, type Behaviours, type Call, numberParameter } from '../call.ts';
import { type Completion, complete, completionJson } from '../completion.ts';
import { chunkHead, type Frame, framesOf, jsonFrame, streamSteps, throughOutput } from '../frames.ts';
import { eventStreamHead, head, type Steps, silence, wait, write } from '../step.ts';
import { echo } from './answers.ts';

/** Streams that end only when the client leaves end here all the same. */
const repeatsHardLimit = 100_000;
/** Not the pace of the server, which tests set to 0: such a stream must not become a busy loop. */
const repeatDefaultMs = 10;
const intervalMs = (call: Call): number => Math.max(1, numberParameter(call, 0, repeatDefaultMs));

/** Part of an answer, then nothing. A JSON answer stops in the middle of its declared length. */
const stallAfter =
  (outputs: number): Behaviour =>
  (call) => {
    const completion = complete(call);
    if (call.request.stream === true) {
      const frames = throughOutput(framesOf(call, completion), numberParameter(call, 0, outputs));
      return streamSteps(call, frames, { ending: silence });
    }
    const text = JSON.stringify(completionJson(completion));
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
    return [head(200, headers), write(text.slice(0, text.length / 2)), silence];
  };

function* comments(gapMs: number): Steps {
  yield eventStreamHead;
  for (let sent = 0; sent < repeatsHardLimit; sent += 1) {
    yield write(': keep-alive\n\n');
    yield wait(gapMs);
  }
  yield silence;
}

function* tireless(completion: Completion): Iterable<Frame> {
  for (let sent = 0; sent < repeatsHardLimit; sent += 1) {
    const delta = sent === 0 ? { role: 'assistant', content: '' } : { content: 'and on ' };
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: null }];
    yield jsonFrame('output', { ...chunkHead(completion), choices });
  }
}

export const pauses: Behaviours = {
  slow: (call) => [wait(numberParameter(call, 0, 1000)), ...echo(call)],
  'slow-chunks': (call) => echo({ ...call, paceMs: numberParameter(call, 0, 1000) }),
  silent: () => [silence],
  stall: stallAfter(3),
  'stall-after-role': stallAfter(0),
  'trickle-comments': (call) => comments(intervalMs(call)),
  endless: (call) =>
    streamSteps({ ...call, paceMs: intervalMs(call) }, tireless(complete(call)), {
      ending: silence,
    }),
};
