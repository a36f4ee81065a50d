import { EventStreamCodec } from '@smithy/core/event-streams';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator, unknownMembersTexts } from '../../../infra/local/simulator/index.ts';
import { send, userMessage, type WireAnswer, withSimulator } from './simulated.ts';

const text = 'What is the capital of France?';
const chat = { messages: [userMessage(text)] };

interface FormatCase {
  readonly name: string;
  readonly keyHeader?: string;
  /** The status that refuses an invalid credential. */
  readonly refusals: number;
  /** Text that only a complete stream contains. */
  readonly end?: string;
  readonly body: (model: string, isStream: boolean) => object;
  readonly path: (model: string, isStream: boolean) => string;
}

const inBody = (members: object) => (model: string, isStream: boolean) => ({ model, ...members, stream: isStream });

const formats: readonly FormatCase[] = [
  { name: 'chat-completions', refusals: 401, end: '[DONE]', body: inBody(chat), path: () => '/chat/completions' },
  {
    ...{ name: 'messages', keyHeader: 'x-api-key', refusals: 401, end: 'message_stop', path: () => '/messages' },
    body: inBody({ ...chat, max_tokens: 500 }),
  },
  {
    name: 'responses',
    refusals: 401,
    end: 'response.completed',
    body: inBody({ input: text }),
    path: () => '/responses',
  },
  {
    ...{ name: 'generate-content', keyHeader: 'x-goog-api-key', refusals: 400, end: '"finishReason":"STOP"' },
    body: () => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    path: (model, isStream) => `/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  },
  {
    ...{ name: 'converse', refusals: 403, end: '"stopReason":"end_turn"' },
    body: () => ({ messages: [userMessage([{ text }])] }),
    path: (model, isStream) => `/model/${model}/converse${isStream ? '-stream' : ''}`,
  },
  { name: 'embeddings', refusals: 401, body: inBody({ input: text }), path: () => '/embeddings' },
];
const streaming = formats.filter(({ end }) => end !== undefined);

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
});
afterAll(() => simulator.stop());

const version = { 'anthropic-version': '2023-06-01' };
const ask = (format: FormatCase, model: string, isStream = false, headers = {}, server = simulator) =>
  send(`${server.url}${format.path(model, isStream)}`, format.body(model, isStream), {
    headers: { ...version, ...headers },
  });

describe.each(formats)('$name', (format) => {
  it('leads a redirect to a provider of its own server, which would log a call', async () => {
    const redirect = await ask(format, 'redirect');
    const [path] = format.path('redirect', false).split('?');
    expect([redirect.status, redirect.headers.location]).toEqual([307, `/redirected/v1${path}`]);
  });

  it('answers one credential alone, after Bearer or in the header that it has for it', () =>
    withSimulator(
      async (server) => {
        const { keyHeader, refusals } = format;
        const good = [{ authorization: 'Bearer sk-right' }, ...(keyHeader ? [{ [keyHeader]: 'sk-right' }] : [])];
        for (const headers of good) expect((await ask(format, 'echo', false, headers, server)).status).toBe(200);
        const bad = [{}, { authorization: 'sk-right' }, { [keyHeader ?? 'x-api-key']: 'sk-wrong' }];
        for (const headers of bad) expect((await ask(format, 'reset', false, headers, server)).status).toBe(refusals);
      },
      { credential: 'sk-right' },
    ));

  it('sends JSON with unknown fields, and invalid reports, as the behaviour says', async () => {
    const { json } = unknownMembersTexts(format.name, format.body('unknown-members', false));
    expect((await ask(format, 'unknown-members')).text).toBe(json);
    expect(JSON.stringify(JSON.parse(json))).not.toBe(json);
    expect((await ask(format, 'wrong-usage:text')).text).toMatch(/"usage(Metadata)?":"a lot"/);
    expect((await ask(format, 'no-usage')).text).not.toMatch(
      /"(prompt_tokens|input_tokens|inputTokens|promptTokenCount)"/,
    );
  });
});

describe.each(streaming)('a stream of $name', (format) => {
  const { end = '' } = format;

  it('is whole, in chunks of any form', async () => {
    const forms = [
      'echo',
      'crlf',
      'cr',
      'comments',
      'sse-fields',
      'multi-line-data',
      'byte-split:7',
      'unknown-members',
    ];
    for (const model of forms) {
      const answer = await ask(format, model, true);
      expect([model, answer.status, answer.isBroken]).toEqual([model, 200, false]);
      expect(answer.text.replaceAll(/\\?"\s*:\s*\\?"/g, '":"')).toContain(end);
    }
    const huge = await ask(format, 'huge:20000', true);
    expect(huge.text.split('lorem').length).toBeGreaterThan(1_000);
  });
});

describe('ConverseStream on the wire', () => {
  const messages = [{ role: 'user', content: [{ text }] }];
  /** Returns the headers and texts of a stream's messages; the codec throws for a wrong length or checksum. */
  function eventsOf({ pieces }: WireAnswer) {
    const codec = new EventStreamCodec(
      (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
      (text) => Buffer.from(text, 'utf8'),
    );
    let rest = Buffer.concat(pieces);
    const events: { headers: Record<string, unknown>; text: string }[] = [];
    while (rest.length >= 4 && rest.length >= rest.readUInt32BE(0)) {
      const { headers, body } = codec.decode(rest.subarray(0, rest.readUInt32BE(0)));
      const values = Object.entries(headers).map(([name, { value }]) => [name, value]);
      events.push({ headers: Object.fromEntries(values), text: Buffer.from(body).toString('utf8') });
      rest = rest.subarray(rest.readUInt32BE(0));
    }
    return { events, remainder: rest.length };
  }

  it('is a row of whole binary messages with their names, padded', async () => {
    const answer = await send(`${simulator.url}/model/tools/converse-stream`, {
      messages,
      toolConfig: { tools: [{ toolSpec: { name: 'get_time', inputSchema: { json: { type: 'object' } } } }] },
    });
    expect(answer.headers['content-type']).toBe('application/vnd.amazon.eventstream');
    expect(answer.headers['x-amzn-requestid']).toMatch(/./);
    const { events, remainder } = eventsOf(answer);
    expect(remainder).toBe(0);
    expect(events.map(({ headers }) => headers[':event-type'])).toEqual([
      'messageStart',
      ...['contentBlockStart', 'contentBlockDelta', 'contentBlockStop'],
      ...['contentBlockStart', 'contentBlockDelta', 'contentBlockStop'],
      ...['messageStop', 'metadata'],
    ]);
    expect(events.every(({ text: eventText }) => typeof JSON.parse(eventText).p === 'string')).toBe(true);
    expect(events[0]?.headers).toEqual({
      ':event-type': 'messageStart',
      ':content-type': 'application/json',
      ':message-type': 'event',
    });
  });
});
