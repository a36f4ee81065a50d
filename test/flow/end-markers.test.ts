// The end marker of chat completions, which servers of other interfaces write too. The gateway relays it if the
// provider sent it, in a stored answer as well, and adds it nowhere else.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { eventStream, streamOf } from '../support/provider-answers.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

const done = 'data: [DONE]\n\n';
const interfaces = ['messages', 'responses'] as const;
type Interface = (typeof interfaces)[number];
const ask: Readonly<Record<Interface, object>> = {
  messages: { max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }], stream: true },
  responses: { input: 'Hello', store: false, stream: true },
};

/**
 * The pieces of the answer, with a turn of the event loop between them; the connection ends after them, unless it is to
 * stay open.
 */
let pieces: readonly string[] = [];
let staysOpen = false;
let provider: ScriptedProvider;
let gateway: Harness;
beforeAll(async () => {
  provider = await startScriptedProvider(async (outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) {
      outgoing.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!staysOpen) outgoing.end();
  });
  gateway = await startHarness({
    models: {
      'on/messages': [{ provider: 'messages', upstream: 'm' }],
      'on/responses': [{ provider: 'responses', upstream: 'm' }],
      'on/chat': [{ provider: 'chat', upstream: 'm' }],
    },
    providers: {
      messages: { apis: ['messages'], base_url: provider.url },
      responses: { apis: ['responses'], base_url: provider.url },
      chat: { apis: ['chat-completions'], base_url: provider.url },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const textOf = (api: Interface): string =>
  Buffer.concat([...streamOf(api, { blocks: [{ text: 'So.' }] }).bytes]).toString();
const used = { input_tokens: 3, output_tokens: 1 };
const eventOf = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
/** The first event of another answer, with a usage. */
const another: Readonly<Record<Interface, string>> = {
  messages: eventOf('message_start', { message: { id: 'msg_2', role: 'assistant', content: [], usage: used } }),
  responses: eventOf('response.completed', {
    response: { id: 'resp_2', status: 'completed', output: [], usage: used },
  }),
};
const stream = async (path: Interface, model: string, headers: Record<string, string> = {}) => {
  const answer = await gateway.postTo(`/${path}`, { model, ...ask[path] }, headers);
  expect(answer.status).toBe(200);
  return answer.text();
};

describe.each(interfaces)('a stream of %s', (path) => {
  const lastEvent = path === 'messages' ? 'event: message_stop' : 'event: response.completed';

  it.each([
    ['in one piece with the last event', () => [textOf(path) + done]],
    ['in a piece of its own', () => [textOf(path), done]],
    ['behind a comment', () => [textOf(path), ': so\n\n', done]],
  ])('ends with the marker of its provider, once: %s', async (_how, framesOf) => {
    pieces = framesOf();
    const text = await stream(path, `on/${path}`);
    expect(text.endsWith(done)).toBe(true);
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(text.indexOf(lastEvent)).toBeGreaterThan(0);
  });

  it.each([
    ['in one piece with it', () => [textOf(path) + another[path] + done]],
    ['in pieces of their own', () => [textOf(path), another[path], done]],
  ])('ends with its own end: events of another answer behind it are not relayed, %s', async (_how, framesOf) => {
    pieces = framesOf();
    const text = await stream(path, `on/${path}`);
    expect(text.split(lastEvent)).toHaveLength(2);
    expect(text).not.toMatch(/msg_2|resp_2/);
  });

  it('that is stored is replayed with it', async () => {
    pieces = [textOf(path), done];
    const key = { 'idempotency-key': `marked-${path}` };
    const first = await stream(path, `on/${path}`, key);
    await gateway.settled();
    const callsBefore = provider.bodies.length;
    expect([await stream(path, `on/${path}`, key), provider.bodies.length]).toEqual([first, callsBefore]);
    expect(first.endsWith(done)).toBe(true);
  });

  it('has none that its provider did not send, even if the connection stays open or breaks', async () => {
    for (const open of [false, true]) {
      pieces = [textOf(path)];
      staysOpen = open;
      const text = await stream(path, `on/${path}`);
      expect([text.includes('[DONE]'), text.includes(lastEvent), text.includes('event: error')]).toEqual([
        false,
        true,
        false,
      ]);
    }
    staysOpen = false;
  });

  it('has none of a provider of another format', async () => {
    const choice = { index: 0, delta: { role: 'assistant', content: 'So.' }, finish_reason: 'stop' };
    pieces = [Buffer.concat([...eventStream({ id: 'c', choices: [choice] }).bytes]).toString(), done];
    const text = await stream(path, 'on/chat');
    expect([text.includes('[DONE]'), text.includes(lastEvent)]).toEqual([false, true]);
  });

  it('that says its marker and not its own end is broken', async () => {
    const events = textOf(path)
      .split('\n\n')
      .filter((event) => event !== '');
    const beginning = events.slice(0, path === 'messages' ? -2 : -1).map((event) => `${event}\n\n`);
    pieces = [beginning.join('') + done];
    const text = await stream(path, `on/${path}`);
    expect([text.includes('[DONE]'), text.includes('event: error'), text.includes(lastEvent)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

it('official SDKs read such streams', async () => {
  const openai = openaiOf(gateway);
  pieces = [textOf('responses'), done];
  const types: string[] = [];
  const request = { model: 'on/responses', input: 'Hello', store: false, stream: true } as const;
  for await (const { type } of await openai.responses.create(request)) types.push(type);
  const anthropic = anthropicOf(gateway);
  pieces = [textOf('messages'), done];
  const { content } = await anthropic.messages
    .stream({ model: 'on/messages', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] })
    .finalMessage();
  expect([types.at(-1), content]).toMatchObject(['response.completed', [{ text: 'So.' }]]);
});
