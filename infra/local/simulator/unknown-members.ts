// Adds fields to an answer that no serializer would write. A reader that parses the answer and writes it again loses
// them.

import type { Frame } from './answer.ts';
import { type SimulatedCompletion, tokenCounts } from './answer.ts';
import type { SimulatorCall, SimulatorFormat } from './call.ts';
import { formats } from './formats/known-formats.ts';

const extraMembers = '"x_vendor" : {"score":1.50, "big":12345678901234567890, "tiny":1E-7,"list":[ ]}';

const oddCompletion: SimulatedCompletion = {
  id: 'odd-1',
  createdEpochSeconds: 1,
  model: 'odd',
  choices: [{ content: 'café / bar', pieces: ['café ', '/ bar'], toolCalls: [], finishReason: 'stop' }],
  usage: tokenCounts(7, 5),
};

/**
 * Returns the answer in a format. Ids are the same in every answer, so that a test knows the answers before they are
 * sent.
 */
export function unknownMembersAnswer(
  format: SimulatorFormat,
  body: unknown,
): { readonly json: string; readonly frames: readonly Frame[] } {
  const call = {
    format,
    body,
    newId: (prefix: string) => `${prefix}odd`,
    keep: () => {},
  } as Partial<SimulatorCall> as SimulatorCall;
  return {
    json: oddText(format.json(call, oddCompletion)),
    frames: format
      .frames(call, oddCompletion)
      .map((frame) => (frame.text.startsWith('{') ? { ...frame, text: oddText(JSON.parse(frame.text)) } : frame)),
  };
}

/** Returns the exact answer of `unknown-members` to a body: as JSON, and each event of a stream. */
export function unknownMembersTexts(formatName: string, body: object = {}) {
  const format = formats.find(({ name }) => name === formatName);
  if (format === undefined) throw new Error(`no format ${formatName}`);
  const { json, frames } = unknownMembersAnswer(format, body);
  return { json, data: frames.map(({ text }) => text), events: frames.map(format.encode) };
}

/** Writes fields in another order, with odd spaces, needless escapes, and fields that no format has. */
function oddText(value: object): string {
  const members = Object.entries(value).map(([name, member], index) => {
    const text = JSON.stringify(member).replaceAll('/', '\\/').replaceAll('é', '\\u00e9');
    return `${JSON.stringify(name)}${index % 2 === 0 ? ' :' : ': '}${text}`;
  });
  return `{ ${[...members.slice(1), extraMembers, ...members.slice(0, 1)].join(' ,')} }`;
}
