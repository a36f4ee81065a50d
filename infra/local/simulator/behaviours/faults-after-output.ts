// Lists behaviours that fail after the status 200 was sent. Each changes a stream frame by frame, and a JSON answer in
// the same way.

import type { Frame, SimulatedCompletion } from '../answer.ts';
import { type Behaviour, type Behaviours, numberParameter, type SimulatorCall, wordParameter } from '../call.ts';
import { complete } from '../completion.ts';
import { jsonFrame, streamSteps, throughOutput } from '../frames.ts';
import { body, cut, end, head, json, type SimulatorStep, type Steps, write } from '../step.ts';

const without = (frames: readonly Frame[], ...carried: Frame['carries'][]) =>
  frames.filter(({ carries }) => !carried.includes(carries));

const endMarks = (frames: readonly Frame[]) => frames.filter(({ carries }) => carries === 'done');

interface LateFault {
  readonly stream: (frames: readonly Frame[], call: SimulatorCall, completion: SimulatedCompletion) => readonly Frame[];
  readonly ending?: SimulatorStep;
  readonly json: (call: SimulatorCall, completion: SimulatedCompletion) => Steps;
}

const late =
  (fault: LateFault): Behaviour =>
  (call) => {
    const completion = complete(call);
    if (!call.request.isStream) return fault.json(call, completion);
    const frames = fault.stream(call.format.frames(call, completion), call, completion);
    return streamSteps(call, frames, { ending: fault.ending ?? end });
  };

/**
 * Sends half of the JSON answer, then performs `ending`. Without a declared length a clean end looks complete to HTTP.
 */
const half =
  (ending: SimulatorStep) =>
  (call: SimulatorCall, completion: SimulatedCompletion): Steps => {
    const text = JSON.stringify(call.format.json(call, completion));
    return [head(200, { 'content-type': 'application/json' }), write(text.slice(0, text.length / 2)), ending];
  };

const whole = (call: SimulatorCall, completion: SimulatedCompletion) => json(200, call.format.json(call, completion));

const withoutFinish = (call: SimulatorCall, completion: SimulatedCompletion, content: { content?: string } = {}) =>
  whole(call, {
    ...completion,
    choices: completion.choices.map((choice) => ({ ...choice, ...content, finishReason: null })),
  });

/** Sends an error under status 200. */
function failedJson(call: SimulatorCall, completion: SimulatedCompletion): Steps {
  const { format } = call;
  const code = wordParameter(call);
  return json(200, format.failedJson?.(call, completion, code) ?? format.error(500, code).body);
}

const errorAfter = (outputs: (call: SimulatorCall) => number) =>
  late({
    stream: (frames, call, completion) => [
      ...throughOutput(frames, outputs(call)),
      ...call.format.errorFrames(call, completion, wordParameter(call)),
    ],
    json: failedJson,
  });

const outputsBefore = (call: SimulatorCall) => numberParameter(call, 0, 3);

function withoutMembers(value: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

export const faultsAfterOutput: Behaviours = {
  'error-after-role': errorAfter(() => 0),
  'error-after-chunks': errorAfter(outputsBefore),
  cut: late({
    stream: (frames, call) => throughOutput(frames, outputsBefore(call)),
    ending: cut,
    json: half(cut),
  }),
  'cut-clean': late({
    stream: (frames, call) => throughOutput(frames, outputsBefore(call)),
    json: half(end),
  }),
  'no-done': late({ stream: (frames) => without(frames, 'done'), json: whole }),
  'done-without-finish': late({ stream: (frames) => without(frames, 'finish'), json: withoutFinish }),
  'empty-stream': late({ stream: endMarks, json: () => body(200, 'application/json', '') }),
  'role-only': late({
    stream: (frames) => [...throughOutput(frames, 0), ...endMarks(frames)],
    json: (call, completion) => withoutFinish(call, completion, { content: '' }),
  }),
  garbage: late({
    stream: (frames, call) => {
      const before = throughOutput(frames, outputsBefore(call));
      const brokenFrame: Frame = {
        ...(before.at(-1) ?? {}),
        carries: 'other',
        text: '{"id":"chatcmpl-1","choices":[{',
      };
      return [...before, brokenFrame, ...frames.slice(before.length)];
    },
    json: () => body(200, 'application/json', 'Service is warming up, please try again {'),
  }),
  'no-choices': late({
    stream: (frames, { format }) =>
      frames.map((frame) =>
        frame.text.startsWith('{')
          ? jsonFrame('other', withoutMembers(JSON.parse(frame.text), format.answerMembers), frame.event)
          : frame,
      ),
    json: (call, completion) =>
      json(200, withoutMembers(call.format.json(call, completion), call.format.answerMembers)),
  }),
  'json-instead-of-stream': (call) => whole(call, complete(call)),
  'stream-instead-of-json': (call) => streamSteps(call, call.format.frames(call, complete(call))),
};
