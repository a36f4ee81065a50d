// An answer no serializer would write: extra members, odd spacing, order, escapes and numbers. Who parses and writes it
// again cannot hide it. `unknownMembersTexts` is what a test compares with.
import type { Behaviour } from '../call.ts';
import { done, type Frame, streamSteps } from '../frames.ts';
import { body } from '../step.ts';

const extra = '"x_vendor" : {"score":1.50, "big":12345678901234567890, "tiny":1E-7,"list":[ ]}';

const chunk = (delta: string, finishReason: string) =>
  `{ "choices":[ {"delta" : ${delta}, "index":0,"x_choice":null, "finish_reason":${finishReason}} ],"object":"chat.completion.chunk" , ${extra},"id":"odd-1","model":"odd" ,"created":1}`;

const usage = '{"total_tokens":12 ,"prompt_tokens":7, "completion_tokens":5,"x_energy_joules":0.10}';

/** The JSON texts exactly as sent. */
export const unknownMembersTexts = {
  json: `{ "usage":${usage},\n\t"choices" : [{"finish_reason":"stop","index":0, "message":{"content":"caf\\u00e9 \\/ bar","x_mood":"calm", "role":"assistant"}}],${extra} , "object":"chat.completion","id":"odd-1" ,"model":"odd","created":1 }`,
  chunks: [
    chunk('{"role":"assistant", "content":""}', 'null'),
    chunk('{ "content":"caf\\u00e9 ","x_delta":true}', 'null'),
    chunk('{"content" :"\\/ bar"}', 'null'),
    chunk('{ }', '"stop"'),
  ],
  usageChunk: `{"usage" : ${usage}, "choices":[ ],"object":"chat.completion.chunk","id":"odd-1","model":"odd","created":1}`,
};

export const unknownMembers: Behaviour = (call) => {
  const { json, chunks, usageChunk } = unknownMembersTexts;
  if (call.request.stream !== true) return body(200, 'application/json', json);
  const asked = call.request.stream_options?.include_usage === true;
  const frames: readonly Frame[] = [...chunks, ...(asked ? [usageChunk] : [])].map((text) => ({
    carries: 'other',
    text,
  }));
  return streamSteps(call, [...frames, done]);
};
