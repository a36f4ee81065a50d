// Kinds whose interfaces are at different addresses below one base URL, through the front door, with a server that
// answers at those addresses alone.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const chat = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'So.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'So.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};
const events = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
const claudes = '/v1/projects/p/locations/global/publishers/anthropic/models';
const answers: Readonly<Record<string, object | string>> = {
  '/compatibility/v1/chat/completions': chat,
  '/compatibility/v1/embeddings': {
    object: 'list',
    model: 'm',
    data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: 2, total_tokens: 2 },
  },
  '/v2/rerank': { id: 'r', results: [{ index: 0, relevance_score: 0.5 }], meta: { billed_units: { search_units: 1 } } },
  [`${claudes}/claude-sonnet-4-5@20250929:rawPredict`]: message,
  [`${claudes}/claude-sonnet-4-5@20250929:streamRawPredict`]: events.join(''),
  [`${claudes}/count-tokens:rawPredict`]: { input_tokens: 3 },
};

let server: Server;
let gateway: Harness;
let requests: { path: string; body: Json }[] = [];
beforeAll(async () => {
  server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    incoming.on('end', () => {
      const path = decodeURIComponent(incoming.url ?? '');
      requests.push({ path, body: JSON.parse(body) as Json });
      const answer = answers[path];
      const isStream = typeof answer === 'string';
      outgoing.writeHead(answer === undefined ? 404 : 200, {
        'content-type': isStream ? 'text/event-stream' : 'application/json',
      });
      outgoing.end(isStream ? answer : JSON.stringify(answer ?? {}));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const more = { max_output_tokens: 500, supported_params: { tools: true } };
  const by = (provider: string, upstream: string) => [{ provider, upstream, more }];
  gateway = await startHarness({
    models: {
      cohere: by('cohere', 'command-a'),
      older: by('older', 'command-a'),
      claude: by('vertex', 'claude-sonnet-4-5@20250929'),
    },
    providers: {
      cohere: { kind: 'cohere', auth: 'none', base_url: origin },
      older: { kind: 'cohere', auth: 'none', base_url: `${origin}/v2` },
      vertex: {
        kind: 'vertex',
        auth: 'none',
        apis: ['messages'],
        base_url: `${origin}/v1/projects/p/locations/global/publishers/google`,
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  server.close();
});
beforeEach(() => {
  requests = [];
});

const messages = [{ role: 'user', content: 'Hello' }];

describe.each(['cohere', 'older'])('Cohere (%s)', (model) => {
  it.each([
    ['/chat/completions', { messages }, '/compatibility/v1/chat/completions'],
    ['/messages', { messages, max_tokens: 9 }, '/compatibility/v1/chat/completions'],
    ['/embeddings', { input: 'Hello' }, '/compatibility/v1/embeddings'],
    ['/rerank', { query: 'Hello', documents: ['one'] }, '/v2/rerank'],
  ])('is called for %s at the address that it has for that', async (path, body, address) => {
    const response = await gateway.postTo(path, { model, ...body });
    expect([response.status, requests.map((call) => call.path)]).toEqual([200, [address]]);
    expect(requests[0]?.body.model).toBe('command-a');
  });
});

describe('Claude on Vertex', () => {
  const version = 'vertex-2023-10-16';

  it.each([
    ['/messages', { messages, max_tokens: 9 }],
    ['/chat/completions', { messages, max_tokens: 9 }],
    ['/responses', { input: 'Hello', max_output_tokens: 9 }],
  ])('answers %s, whole and streamed, with its model in the path alone', async (path, body) => {
    for (const stream of [false, true]) {
      requests = [];
      const response = await gateway.postTo(path, { model: 'claude', ...body, stream });
      expect([response.status, (await response.text()).includes('So.')]).toEqual([200, true]);
      const method = stream ? 'streamRawPredict' : 'rawPredict';
      expect(requests.map((call) => call.path)).toEqual([`${claudes}/claude-sonnet-4-5@20250929:${method}`]);
      expect(requests[0]?.body).toMatchObject({ anthropic_version: version, max_tokens: 9 });
      expect(requests[0]?.body).not.toHaveProperty('model');
    }
    expect((await gateway.lastRecord())?.outcome).toBe('ok');
  });

  it('counts tokens if Vertex does', async () => {
    const response = await gateway.postTo('/messages/count_tokens', { model: 'claude', messages });
    expect([response.status, await response.json()]).toEqual([200, { input_tokens: 3 }]);
    expect(requests).toMatchObject([
      { path: `${claudes}/count-tokens:rawPredict`, body: { model: 'claude-sonnet-4-5@20250929' } },
    ]);
  });
});
