// Serves a provider with answers of the largest size, sent on demand. The name of the model selects the answer.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { frameStreamType } from '../../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { frameOf } from '../../../shared/protocol/event-frames/index.ts';

const megabyte = 1_000_000;

/**
 * The text consists of different words, like the text of a model, so that it compresses well enough for an item of the
 * store.
 */
export const largeAnswerBytes = 8 * megabyte;
const text = Array.from({ length: largeAnswerBytes / 16 }, (_none, at) => `word ${at % 97} of it, `)
  .join('')
  .slice(0, largeAnswerBytes);
const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const completion = (content: string) =>
  JSON.stringify({
    ...{ id: 'a', object: 'chat.completion', created: 1_760_000_000, model: 'a', usage },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  });
const message = JSON.stringify({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'a', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Yes.' }],
  usage: { input_tokens: 10, output_tokens: 10 },
});
/** Number of events of `checked-texts`, each of which a guardrail checks. */
const checkedTexts = 125;
const vector = Array.from({ length: 1_536 }, (_none, at) => ((at % 199) - 99) / 1_234.5);
const embeddings = JSON.stringify({
  ...{ object: 'list', model: 'a', usage: { prompt_tokens: 10, total_tokens: 10 } },
  data: Array.from({ length: 290 }, (_none, index) => ({ object: 'embedding', index, embedding: vector })),
});

const answers: Readonly<Record<string, { readonly body: string; readonly afterMs: number }>> = {
  small: { body: completion('Yes.'), afterMs: 20 },
  large: { body: completion(text), afterMs: 20 },
  slow: { body: completion('Yes.'), afterMs: 5_000 },
  'slow-message': { body: message, afterMs: 5_000 },
  vectors: { body: embeddings, afterMs: 500 },
};

export const longEventBytes = megabyte;
const eventOf = (bytes: number) =>
  `data: ${JSON.stringify({
    ...{ id: 'a', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'a' },
    choices: [{ index: 0, delta: { content: text.slice(0, bytes) }, finish_reason: null }],
  })}\n\n`;
const delta = { contentBlockIndex: 0, delta: { text: text.slice(0, 65_000) } };
/** Events of endless streams, by the name of the model. Frames are those of Converse. */
const events: Readonly<Record<string, string | Uint8Array>> = {
  ...{ events: eventOf(65_000), 'long-events': eventOf(longEventBytes) },
  frames: frameOf({ name: 'contentBlockDelta', text: JSON.stringify(delta) }),
};

/** Writes events as fast as they are read. */
async function streamEvents(outgoing: ServerResponse, event: string | Uint8Array): Promise<void> {
  outgoing.writeHead(200, { 'content-type': typeof event === 'string' ? 'text/event-stream' : frameStreamType });
  const closed = once(outgoing, 'close');
  while (!outgoing.destroyed) {
    if (!outgoing.write(event)) await Promise.race([once(outgoing, 'drain'), closed]);
  }
}

/** Streams that begin and then continue silently, by the name of the model. */
const beginnings: Readonly<Record<string, string>> = {
  'begun-message': [
    { type: 'message_start', message: { ...JSON.parse(message), content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes.' } },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(''),
  'checked-texts': eventOf(largeAnswerBytes / checkedTexts).repeat(checkedTexts),
};

const imageUsage = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 };
const imageAnswer = (parts: readonly object[]) =>
  JSON.stringify({ candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata: imageUsage });
const largeImage = imageAnswer([{ inlineData: { mimeType: 'image/png', data: 'aGkh'.repeat(largeAnswerBytes / 4) } }]);
/** Answers to form requests, by the end of the path. */
const formAnswers: readonly (readonly [path: string, body: string])[] = [
  ['/transcriptions', '{"text":"Yes."}'],
  [':generateContent', imageAnswer([{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }])],
];

/** Maximum length of a request that the guardrail passes; a longer request gets no answer. */
const checkedMaxBytes = megabyte;

export async function startHostileProvider() {
  let silentCalls = 0;
  /** Requests below `/halves`, of which every second gets no answer. */
  let parts = 0;
  const server = createServer({ keepAliveTimeout: 600_000 }, async (incoming, outgoing) => {
    let bytes = 0;
    let start = '';
    let end = '';
    for await (const part of incoming) {
      bytes += (part as Buffer).length;
      const piece = (part as Buffer).toString('latin1');
      if (start.length < 1_000) start += piece.slice(0, 1_000);
      end = piece.slice(-1_000);
    }
    const [, name = 'small'] =
      /\/model\/([\w-]+)\/converse/.exec(incoming.url ?? '') ?? /"model":\s*"([\w-]+)"/.exec(start + end) ?? [];
    const isCheck = incoming.url?.endsWith('/guardrail') === true;
    const isPart = incoming.url?.includes('/halves/') === true;
    if (isPart) parts += 1;
    const beginning = isCheck ? undefined : beginnings[name];
    if (beginning !== undefined) {
      silentCalls += 1;
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(beginning);
      return;
    }
    const isSilent = incoming.url?.includes('/silent/') === true || (isPart && parts % 2 === 0);
    if (isCheck ? bytes > checkedMaxBytes : isSilent) {
      silentCalls += 1;
      return;
    }
    if (isPart) return outgoing.end(largeImage);
    if (isCheck) return outgoing.end('{"action":"pass"}');
    if (events[name] !== undefined) return streamEvents(outgoing, events[name]);
    const formAnswer = formAnswers.find(([path]) => incoming.url?.endsWith(path))?.[1];
    const { body, afterMs } = (formAnswer === undefined ? answers[name] : undefined) ?? {
      body: formAnswer ?? '{}',
      afterMs: 0,
    };
    await sleep(systemClock, afterMs);
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /**
     * Number of requests that arrived completely and get no answer: requests below `/silent`, and long requests of a
     * guardrail.
     */
    silentCalls: () => silentCalls,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
