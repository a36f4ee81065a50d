// Good answers in an unusual form on the wire: cut anywhere, other line ends, comments, extra fields, great size.

import type { Choice } from '../answer.ts';
import { type Behaviour, type Behaviours, numberParameter, type SimulatorCall } from '../call.ts';
import { complete } from '../completion.ts';
import { respond, streamSteps } from '../frames.ts';
import { body, type SimulatorStep, type Steps, write } from '../step.ts';
import { unknownMembersAnswer } from '../unknown-members.ts';

/** Letters of one to four bytes, and a sign of several code points. */
const manyBytes = 'Grüße aus Zürich, 你好 世界 🌍 👩‍🚀 — fertig.';

const hugeDefaultBytes = 1024 * 1024;
const hugestBytes = 64 * 1024 * 1024;
const hugePieceBytes = 1024;

/** Other text on the wire of a stream; binary frames stay as they are. */
const rewritten =
  (rewrite: (text: string) => string): Behaviour =>
  (call) =>
    call.request.isStream
      ? streamSteps(call, call.format.frames(call, complete(call)), { rewrite })
      : respond(call, complete(call));

/** The same bytes in other writes: `cutter` returns the size of the next write. */
function* recut(steps: Steps, cutter: (rest: number, sent: number) => number): Iterable<SimulatorStep> {
  let sent = 0;
  for (const step of steps) {
    if (step.kind !== 'write') {
      yield step;
      continue;
    }
    let rest = Buffer.from(step.bytes);
    while (rest.length > 0) {
      const length = Math.max(1, Math.min(rest.length, cutter(rest.length, sent)));
      yield write(rest.subarray(0, length));
      sent += length;
      rest = rest.subarray(length);
    }
  }
}

const inManyBytes = (call: SimulatorCall): Steps => respond(call, complete(call, { content: manyBytes }));

/** One cut, after the byte at the given position of the body. */
const splitAt: Behaviour = (call) => {
  const position = numberParameter(call, 0, 1);
  return recut(inManyBytes(call), (rest, sent) => (sent < position ? position - sent : rest));
};

const huge =
  (pieceBytes: number): Behaviour =>
  (call) => {
    const bytes = Math.min(numberParameter(call, 0, hugeDefaultBytes), hugestBytes);
    const content = 'lorem ipsum '.repeat(Math.ceil(bytes / 12)).slice(0, bytes);
    const pieces = content.match(new RegExp(`[^]{1,${Math.min(pieceBytes, hugestBytes)}}`, 'g')) ?? [];
    return respond(call, complete(call, { content, pieces } satisfies Partial<Choice>));
  };

const multiLineData = (text: string): string =>
  text.replace(/^data: (\{.*)$/m, (_line, data: string) =>
    JSON.stringify(JSON.parse(data), null, 1)
      .split('\n')
      .map((line) => `data: ${line}`)
      .join('\n'),
  );

const withUnknownMembers: Behaviour = (call) => {
  const { json, frames } = unknownMembersAnswer(call.format, call.body);
  return call.request.isStream ? streamSteps(call, frames) : body(200, 'application/json', json);
};

export const framings: Behaviours = {
  'split-utf8': (call) => recut(inManyBytes(call), () => 1),
  'byte-split': (call) => recut(inManyBytes(call), () => numberParameter(call, 0, 1)),
  'split-at': splitAt,
  crlf: rewritten((text) => text.replace(/^data: /m, 'data:').replaceAll('\n', '\r\n')),
  cr: rewritten((text) => text.replaceAll('\n', '\r')),
  comments: rewritten((text) => `: still here\n: data: {"not":"data"}\n:\n\n${text}`),
  'sse-fields': rewritten((text) => `event: message\nid: 7\nretry: 3000\nunknown: x\n${text}`),
  'multi-line-data': rewritten(multiLineData),
  huge: huge(hugePieceBytes),
  'huge-event': huge(hugestBytes),
  'unknown-members': withUnknownMembers,
};
