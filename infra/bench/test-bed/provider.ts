// Serves a provider that is as fast as Node can be, in the bench's own process. Its answers are fixed, and it parses
// nothing. The field `user`, which every gateway relays, may ask it to wait some milliseconds, or until it is released.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';

const chunkCount = 100;
/** Pause after each chunk, as with any model, so that later chunks do not compete for the processor with the first. */
const nextChunkMs = 2;
/** Longer than any section, because a socket that closes in between would be measured as a slow call. */
const keepAliveTimeout = 600_000;

const usage = { prompt_tokens: 420, completion_tokens: chunkCount, total_tokens: 420 + chunkCount };
const content = 'A gateway adds as little as it can to what lies behind it. '.repeat(30);
const textOf = (object: string, choice: object, more = {}) => {
  const choices = [{ index: 0, ...choice }];
  return JSON.stringify({ id: 'chatcmpl-bench', object, created: 1_760_000_000, model: 'bench', choices, ...more });
};
const message = { role: 'assistant', content };
const jsonAnswer = textOf('chat.completion', { message, finish_reason: 'stop' }, { usage });
const vectorAnswer = JSON.stringify({
  ...{ object: 'list', model: 'bench', usage: { prompt_tokens: 420, total_tokens: 420 } },
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }],
});
const chunk = (content: string, finish_reason: string | null, more = {}) =>
  textOf('chat.completion.chunk', { delta: { role: 'assistant', content }, finish_reason }, more);
const words = Array.from({ length: chunkCount }, (_none, at) => chunk(` word${at}`, null));
const streamEvents = [...words, chunk('', 'stop', { usage }), '[DONE]'].map((text) => `data: ${text}\n\n`);

export async function startProvider() {
  let released = Promise.withResolvers<void>();
  const server = createServer({ keepAliveTimeout }, async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    const calledAtMs = performance.now();
    const [, wait = '0'] = /"user":"wait-(\d+|held)"/.exec(body) ?? [];
    const isStream = body.includes('"stream":true');
    if (wait === 'held') {
      provider.held += 1;
      await released.promise;
      provider.held -= 1;
    }
    // Node counts a timer from the start of the event loop's turn, and turns are long in this process.
    const waitedMs = () => performance.now() - calledAtMs;
    while (waitedMs() < Number(wait)) await sleep(systemClock, Number(wait) - waitedMs());
    if (isStream) return answerStream(outgoing);
    const answer = incoming.url?.endsWith('/embeddings') === true ? vectorAnswer : jsonAnswer;
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  /** Every chunk is a write of its own, so that no reader gets them all at once. */
  const answerStream = async (outgoing: ServerResponse) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of streamEvents) {
      outgoing.write(text);
      await sleep(systemClock, nextChunkMs);
    }
    outgoing.end();
  };
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
  await once(server, 'listening');
  const provider = {
    name: 'provider itself',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Number of calls that wait to be released. */
    held: 0,
    release() {
      released.resolve();
      released = Promise.withResolvers();
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return provider;
}
