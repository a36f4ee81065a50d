// Providers that take their time, and providers that never end.

import type { Frame } from '../answer.ts';
import { type Behaviour, type Behaviours, numberParameter, type SimulatorCall } from '../call.ts';
import { complete } from '../completion.ts';
import { streamHead, streamSteps, throughOutput } from '../frames.ts';
import { head, type Steps, silence, wait, write } from '../step.ts';
import { echo } from './answers.ts';

/** Streams that end only when the client leaves end here all the same. */
const repeatsHardLimit = 100_000;
/** Independent of the server's pace, which tests set to 0: such a stream must not become a busy loop. */
const repeatDefaultMs = 10;
const intervalMs = (call: SimulatorCall): number => Math.max(1, numberParameter(call, 0, repeatDefaultMs));

/** Part of an answer, then nothing. A JSON answer stops in the middle of its declared length. */
const stallAfter =
  (outputs: number): Behaviour =>
  (call) => {
    const completion = complete(call);
    if (call.request.isStream) {
      const frames = throughOutput(call.format.frames(call, completion), numberParameter(call, 0, outputs));
      return streamSteps(call, frames, { ending: silence });
    }
    const text = JSON.stringify(call.format.json(call, completion));
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
    return [head(200, headers), write(text.slice(0, text.length / 2)), silence];
  };

/** Sends keep-alives alone, or nothing where the format has none. */
function* aliveOnly(call: SimulatorCall): Steps {
  const { keepAlive } = call.format;
  yield streamHead(call);
  for (let sent = 0; sent < repeatsHardLimit && keepAlive !== ''; sent += 1) {
    yield write(keepAlive);
    yield wait(intervalMs(call));
  }
  yield silence;
}

function* tireless(call: SimulatorCall): Iterable<Frame> {
  const phrase = 'and on ';
  const beginning = throughOutput(call.format.frames(call, complete(call, { content: phrase, pieces: [phrase] })), 1);
  yield* beginning;
  for (let sent = 0; sent < repeatsHardLimit; sent += 1) yield* beginning.slice(-1);
}

export const pauses: Behaviours = {
  slow: (call) => [wait(numberParameter(call, 0, 1000)), ...echo(call)],
  'slow-chunks': (call) => echo({ ...call, paceMs: numberParameter(call, 0, 1000) }),
};

/** Answers that do not end. */
export const stalls: Behaviours = {
  silent: () => [silence],
  stall: stallAfter(3),
  'stall-after-role': stallAfter(0),
  'trickle-comments': aliveOnly,
  endless: (call) => streamSteps({ ...call, paceMs: intervalMs(call) }, tireless(call), { ending: silence }),
};
