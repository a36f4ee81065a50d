// Good answers in an unusual form on the wire: cut anywhere, other line ends, comments, extra members, great size.
import { type Behaviour, type Behaviours, type Call, numberParameter } from '../call.ts';
import { type Choice, complete, completionJson } from '../completion.ts';
import { done, event, type Frame, framesOf, respond, streamSteps } from '../frames.ts';
import { body, json, type Step, type Steps, write } from '../step.ts';

/** Letters of one to four bytes, and a sign of several code points. */
const manyBytes = 'Grüße aus Zürich, 你好 世界 🌍 👩‍🚀 — fertig.';

const hugeDefaultBytes = 1024 * 1024;
const hugestBytes = 64 * 1024 * 1024;
const hugePieceBytes = 1024;

const encoded =
  (encode: (frame: Frame) => string): Behaviour =>
  (call) =>
    call.request.stream === true
      ? streamSteps(call, framesOf(call, complete(call)), { encode })
      : json(200, completionJson(complete(call)));

/** The same bytes in other writes: `cutter` says how many of the `rest` bytes come next. */
function* recut(steps: Steps, cutter: (rest: number, sent: number) => number): Iterable<Step> {
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

const inManyBytes = (call: Call): Steps => respond(call, complete(call, { content: manyBytes }));

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

const multiLineData = (frame: Frame): string =>
  frame === done
    ? event(frame)
    : `${JSON.stringify(JSON.parse(frame.text), null, 1)
        .split('\n')
        .map((line) => `data: ${line}\n`)
        .join('')}\n`;

// An answer no serializer would write: a reader that parses it and writes it again cannot hide that.
const extra = '"x_vendor" : {"score":1.50, "big":12345678901234567890, "tiny":1E-7,"list":[ ]}';

const oddChunk = (delta: string, finishReason: string) =>
  `{ "choices":[ {"delta" : ${delta}, "index":0,"x_choice":null, "finish_reason":${finishReason}} ],"object":"chat.completion.chunk" , ${extra},"id":"odd-1","model":"odd" ,"created":1}`;

const oddUsage = '{"total_tokens":12 ,"prompt_tokens":7, "completion_tokens":5,"x_energy_joules":0.10}';

/** The JSON texts exactly as sent. */
export const unknownMembersTexts = {
  json: `{ "usage":${oddUsage},\n\t"choices" : [{"finish_reason":"stop","index":0, "message":{"content":"caf\\u00e9 \\/ bar","x_mood":"calm", "role":"assistant"}}],${extra} , "object":"chat.completion","id":"odd-1" ,"model":"odd","created":1 }`,
  chunks: [
    oddChunk('{"role":"assistant", "content":""}', 'null'),
    oddChunk('{ "content":"caf\\u00e9 ","x_delta":true}', 'null'),
    oddChunk('{"content" :"\\/ bar"}', 'null'),
    oddChunk('{ }', '"stop"'),
  ],
  usageChunk: `{"usage" : ${oddUsage}, "choices":[ ],"object":"chat.completion.chunk","id":"odd-1","model":"odd","created":1}`,
};

const unknownMembers: Behaviour = (call) => {
  const { json, chunks, usageChunk } = unknownMembersTexts;
  if (call.request.stream !== true) return body(200, 'application/json', json);
  const asked = call.request.stream_options?.include_usage === true;
  const frames: readonly Frame[] = [...chunks, ...(asked ? [usageChunk] : [])].map((text) => ({
    carries: 'other',
    text,
  }));
  return streamSteps(call, [...frames, done]);
};

export const framings: Behaviours = {
  'split-utf8': (call) => recut(inManyBytes(call), () => 1),
  'byte-split': (call) => recut(inManyBytes(call), () => numberParameter(call, 0, 1)),
  'split-at': splitAt,
  crlf: encoded((frame) => `data:${frame.text}\r\n\r\n`),
  cr: encoded((frame) => `data: ${frame.text}\r\r`),
  comments: encoded((frame) => `: still here\n: data: {"not":"data"}\n:\n\n${event(frame)}`),
  'sse-fields': encoded((frame) => `event: message\nid: 7\nretry: 3000\nunknown: x\n${event(frame)}`),
  'multi-line-data': encoded(multiLineData),
  huge: huge(hugePieceBytes),
  'huge-event': huge(hugestBytes),
  'unknown-members': unknownMembers,
};
