// The chunks of a streamed answer, each with what it carries, so that a fault can say "after the role" or "before the
// finish reason" by leaving frames out. Everything is still data here; sending is streamSteps.
import type { Call } from './call.ts';
import { type Choice, type Completion, completionJson, toolCallJson } from './completion.ts';
import { end, eventStreamHead, json, type Step, type Steps, wait, write } from './step.ts';
import { tokensOf } from './tokens.ts';

export interface Frame {
  readonly carries: 'role' | 'output' | 'finish' | 'usage' | 'done' | 'other';
  /** What follows `data: `. */
  readonly text: string;
}

/** Arguments of tools come in pieces of this many characters, so that clients must put them together. */
const argumentFragment = 8;

export const done: Frame = { carries: 'done', text: '[DONE]' };
export const jsonFrame = (carries: Frame['carries'], value: unknown): Frame => ({
  carries,
  text: JSON.stringify(value),
});

/** One event on the wire. */
export const event = (frame: Frame): string => `data: ${frame.text}\n\n`;

/** All frames of an answer: role, output, finish reason, usage where the request asks for it, end mark. */
export function framesOf(call: Call, completion: Completion): readonly Frame[] {
  const asked = call.request.stream_options?.include_usage === true && completion.usage !== undefined;
  const frame = (carries: Frame['carries'], choices: readonly object[], usage: unknown = null) =>
    jsonFrame(carries, { ...chunkHead(completion), choices, ...(asked ? { usage } : {}) });
  const choiceFrame = (carries: Frame['carries'], index: number, delta: object, finishReason: string | null = null) =>
    frame(carries, [{ index, delta, logprobs: null, finish_reason: finishReason }]);

  const { choices } = completion;
  const roles = choices.map((choice, index) => choiceFrame('role', index, roleDelta(choice)));
  const deltas = choices.map(deltasOf);
  const outputs = Array.from({ length: Math.max(0, ...deltas.map((list) => list.length)) }, (_, position) =>
    deltas.flatMap((list, index) =>
      list.slice(position, position + 1).map((delta) => choiceFrame('output', index, delta)),
    ),
  ).flat();
  const finishes = choices.map((choice, index) => choiceFrame('finish', index, {}, choice.finishReason));
  return [...roles, ...outputs, ...finishes, ...(asked ? [frame('usage', [], completion.usage)] : []), done];
}

export const chunkHead = (completion: Completion) => ({
  id: completion.id,
  object: 'chat.completion.chunk',
  created: completion.createdEpochSeconds,
  model: completion.model,
  system_fingerprint: 'fp_simulator',
});

const roleDelta = (choice: Choice) => ({
  role: 'assistant',
  content: choice.content === null ? null : '',
  refusal: null,
});

function deltasOf(choice: Choice): readonly object[] {
  return [
    ...tokensOf(choice.reasoning ?? '').map((text) => ({ reasoning_content: text })),
    ...(choice.pieces ?? tokensOf(choice.content ?? '')).map((text) => ({ content: text })),
    ...tokensOf(choice.refusal ?? '').map((text) => ({ refusal: text })),
    ...choice.toolCalls.flatMap((toolCall, index) => [
      { tool_calls: [{ index, ...toolCallJson({ ...toolCall, arguments: '' }) }] },
      ...(toolCall.arguments.match(new RegExp(`[^]{1,${argumentFragment}}`, 'gu')) ?? []).map((fragment) => ({
        tool_calls: [{ index, function: { arguments: fragment } }],
      })),
    ]),
  ];
}

/** The answer up to and with its `outputs`-th chunk of output. */
export function throughOutput(frames: readonly Frame[], outputs: number): readonly Frame[] {
  const positions = frames.flatMap(({ carries }, index) => (carries === 'output' ? [index] : []));
  const roles = frames.filter(({ carries }) => carries === 'role').length;
  const last = outputs === 0 ? roles - 1 : (positions[outputs - 1] ?? positions.at(-1) ?? roles - 1);
  return frames.slice(0, last + 1);
}

/** Sends frames, one write each, and then ends the body or does what `ending` says. */
export function* streamSteps(
  call: Call,
  frames: Iterable<Frame>,
  { ending = end, encode = event }: { ending?: Step; encode?: (frame: Frame) => string } = {},
): Steps {
  yield eventStreamHead;
  let isFirst = true;
  for (const frame of frames) {
    if (!isFirst) yield wait(call.paceMs);
    isFirst = false;
    yield write(encode(frame));
  }
  yield ending;
}

/** An answer in the form the request asks for. */
export const respond = (call: Call, completion: Completion): Steps =>
  call.request.stream === true ? streamSteps(call, framesOf(call, completion)) : json(200, completionJson(completion));
