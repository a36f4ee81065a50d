// Builds the frames of a streamed answer, each labelled by its content, so that a fault such as "after the role" or
// "before the finish reason" is made by removing frames. Frames are data; each format makes and writes its own.
import type { Frame, SimulatedCompletion } from './answer.ts';
import type { SimulatorCall } from './call.ts';
import { body, end, head, json, type SimulatorStep, type Steps, wait, write } from './step.ts';

export const jsonFrame = (carries: Frame['carries'], value: unknown, event?: string): Frame => ({
  carries,
  text: JSON.stringify(value),
  ...(event === undefined ? {} : { event }),
});

export const serverSentEvent = ({ event, text }: Frame): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;

/** Length of the pieces of tool arguments, so that clients must join them. */
const argumentFragment = 8;

export const fragmentsOf = (text: string): readonly string[] =>
  text.match(new RegExp(`[^]{1,${argumentFragment}}`, 'gu')) ?? [];

/** Returns the answer up to and including its `outputs`-th frame of output. */
export function throughOutput(frames: readonly Frame[], outputs: number): readonly Frame[] {
  const positions = frames.flatMap(({ carries }, index) => (carries === 'output' ? [index] : []));
  const roles = frames.filter(({ carries }) => carries === 'role').length;
  const last = outputs === 0 ? roles - 1 : (positions[outputs - 1] ?? positions.at(-1) ?? roles - 1);
  return frames.slice(0, last + 1);
}

export const streamHead = ({ format, body }: SimulatorCall): SimulatorStep =>
  head(200, { 'content-type': format.streamTypeOf?.(body) ?? format.streamType, 'cache-control': 'no-cache' });

/** Sends frames, one write each, and then ends the body or performs `ending`. `rewrite` may change each text. */
export function* streamSteps(
  call: SimulatorCall,
  frames: Iterable<Frame>,
  { ending = end, rewrite = (text) => text }: { ending?: SimulatorStep; rewrite?: (text: string) => string } = {},
): Steps {
  yield streamHead(call);
  let position = 0;
  for (const frame of frames) {
    if (position > 0) yield wait(call.paceMs);
    const bytes = call.format.encode(frame, position);
    yield write(typeof bytes === 'string' ? rewrite(bytes) : bytes);
    position += 1;
  }
  yield ending;
}

/** Sends an answer in the format that the request asks for. */
export function respond(call: SimulatorCall, completion: SimulatedCompletion): Steps {
  if (call.request.isStream) return streamSteps(call, call.format.frames(call, completion));
  const text = call.format.text?.(call, completion);
  if (text !== undefined) return body(200, 'text/plain; charset=utf-8', text);
  return json(200, call.format.json(call, completion), call.format.headers?.(completion));
}

/** Sends an error answer in the call's format. */
export function refuse(
  { format }: Pick<SimulatorCall, 'format'>,
  status: number,
  {
    code,
    message,
    headers = {},
  }: { code?: string | undefined; message?: string; headers?: Record<string, string> } = {},
): Steps {
  const error = format.error(status, code, message);
  return json(status, error.body, { ...error.headers, ...headers });
}
