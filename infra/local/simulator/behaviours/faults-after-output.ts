// Failures after the 200 has left. Each says what happens to a stream, frame by frame, and what is the same for a JSON answer.
import { type Behaviour, type Behaviours, type Call, numberParameter, wordParameter } from '../call.ts';
import { type Completion, complete, completionJson } from '../completion.ts';
import { errorBody } from '../error-bodies.ts';
import { done, type Frame, framesOf, jsonFrame, streamSteps, throughOutput } from '../frames.ts';
import { body, cut, end, head, json, type Step, type Steps, write } from '../step.ts';

const without = (frames: readonly Frame[], ...carried: Frame['carries'][]) =>
  frames.filter(({ carries }) => !carried.includes(carries));

interface LateFault {
  readonly stream: (frames: readonly Frame[], call: Call) => readonly Frame[];
  readonly ending?: Step;
  readonly json: (completion: Completion, call: Call) => Steps;
}

const late =
  (fault: LateFault): Behaviour =>
  (call) => {
    const completion = complete(call);
    if (call.request.stream !== true) return fault.json(completion, call);
    return streamSteps(call, fault.stream(framesOf(call, completion), call), { ending: fault.ending ?? end });
  };

/** Half of the JSON answer, then `ending`. Without a declared length a clean end looks complete to HTTP. */
function half(completion: Completion, ending: Step): Steps {
  const text = JSON.stringify(completionJson(completion));
  return [head(200, { 'content-type': 'application/json' }), write(text.slice(0, text.length / 2)), ending];
}

const whole = (completion: Completion) => json(200, completionJson(completion));

const withoutFinish = (completion: Completion, content: string | null | undefined) =>
  whole({
    ...completion,
    choices: completion.choices.map((choice) => ({
      ...choice,
      content: content === undefined ? choice.content : content,
      finishReason: null,
    })),
  });

const errorAfter = (outputs: (call: Call) => number) =>
  late({
    stream: (frames, call) => [
      ...throughOutput(frames, outputs(call)),
      jsonFrame('other', errorBody(500, wordParameter(call))),
      done,
    ],
    json: (_completion, call) => json(200, errorBody(500, wordParameter(call))),
  });

const keptOutputs = (call: Call) => numberParameter(call, 0, 3);

export const faultsAfterOutput: Behaviours = {
  'error-after-role': errorAfter(() => 0),
  'error-after-chunks': errorAfter(keptOutputs),
  cut: late({
    stream: (frames, call) => throughOutput(frames, keptOutputs(call)),
    ending: cut,
    json: (completion) => half(completion, cut),
  }),
  'cut-clean': late({
    stream: (frames, call) => throughOutput(frames, keptOutputs(call)),
    json: (completion) => half(completion, end),
  }),
  'no-done': late({ stream: (frames) => without(frames, 'done'), json: whole }),
  'done-without-finish': late({
    stream: (frames) => without(frames, 'finish'),
    json: (completion) => withoutFinish(completion, undefined),
  }),
  'empty-stream': late({ stream: () => [done], json: () => body(200, 'application/json', '') }),
  'role-only': late({
    stream: (frames) => [...throughOutput(frames, 0), done],
    json: (completion) => withoutFinish(completion, ''),
  }),
  garbage: late({
    stream: (frames, call) => {
      const before = throughOutput(frames, keptOutputs(call));
      return [...before, { carries: 'other', text: '{"id":"chatcmpl-1","choices":[{' }, ...frames.slice(before.length)];
    },
    json: () => body(200, 'application/json', 'Service is warming up, please try again {'),
  }),
  'no-choices': late({
    stream: (frames) =>
      frames.map((frame) =>
        frame === done ? frame : jsonFrame('other', { ...JSON.parse(frame.text), choices: undefined }),
      ),
    json: (completion) => json(200, { ...completionJson(completion), choices: undefined }),
  }),
  'json-instead-of-stream': (call) => whole(complete(call)),
  'stream-instead-of-json': (call) => streamSteps(call, framesOf(call, complete(call))),
};
