// Good answers of a provider, as values for mutations and as bytes to cut.
import type { Upstream, UpstreamReply } from './fuzz-gateway.ts';

export const jsonHeaders = { 'content-type': 'application/json' };
export const eventStreamHeaders = { 'content-type': 'text/event-stream' };

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, prompt_tokens_details: { cached_tokens: 2 } };
const head = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'one-2026' };

export const goodCompletion = {
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: '{"a":"Grüße 🌍"}', reasoning_content: 'hm', tool_calls: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
};

const chunk = (delta: unknown, finish_reason: string | null = null, more: object = {}) => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});

export const goodChunks: readonly object[] = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'hm' }),
  chunk({ content: 'Grüße ' }),
  chunk({ content: '🌍 line\nbreak' }),
  chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":' } }] }),
  chunk({}, 'stop'),
  { ...head, object: 'chat.completion.chunk', choices: [], usage },
];

export interface Framing {
  readonly lineEnd: string;
  readonly prefix: string;
}

export const framings = {
  'in the common form': { lineEnd: '\n', prefix: 'data: ' },
  'with CRLF and comments': { lineEnd: '\r\n', prefix: ': still here\r\nid: 7\r\ndata:' },
  'with CR': { lineEnd: '\r', prefix: 'data: ' },
} satisfies Record<string, Framing>;

export const streamBytes = (texts: readonly string[], { lineEnd, prefix }: Framing): Buffer =>
  Buffer.from([...texts, '[DONE]'].map((text) => `${prefix}${text}${lineEnd}${lineEnd}`).join(''));

export const goodTexts = goodChunks.map((one) => JSON.stringify(one));
const goodStream = streamBytes(goodTexts, { lineEnd: '\n', prefix: 'data: ' });

export const jsonReply = (body: unknown, status = 200): UpstreamReply => ({
  status,
  headers: jsonHeaders,
  pieces: [Buffer.from(JSON.stringify(body))],
});

/** A provider that does what the request asks. */
export const goodUpstream: Upstream = ({ body }) => {
  const { stream } = JSON.parse(String(body)) as { stream?: unknown };
  if (stream !== true) return jsonReply(goodCompletion);
  return { status: 200, headers: eventStreamHeaders, pieces: [goodStream] };
};
