import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { streamText } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator } from '../../../infra/local/simulator/index.ts';
import { send, type WireAnswer } from './simulated.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
});
afterAll(() => simulator.stop());
afterEach(() => simulator.clear());

const prompt = 'What is the capital of France?';
const model = (name: string) =>
  createAmazonBedrock({ apiKey: 'bedrock-canary', region: 'eu-west-1', baseURL: simulator.url })(name);
const stream = (name: string, more = {}) => streamText({ model: model(name), prompt, maxRetries: 0, ...more });
const messages = [{ role: 'user', content: [{ text: prompt }] }];
const sendTo = (name: string, action: string, body: object = { messages }) =>
  send(`${simulator.url}/model/${encodeURIComponent(name)}/${action}`, body);

/** The messages of a stream; the codec refuses a wrong length or checksum. */
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
  return { events, left: rest.length };
}

describe('ConverseStream on the wire', () => {
  it('is a row of whole binary messages with their names, padded', async () => {
    const answer = await sendTo('tools', 'converse-stream', {
      messages,
      toolConfig: { tools: [{ toolSpec: { name: 'get_time', inputSchema: { json: { type: 'object' } } } }] },
    });
    expect(answer.headers['content-type']).toBe('application/vnd.amazon.eventstream');
    expect(answer.headers['x-amzn-requestid']).toMatch(/./);
    const { events, left } = eventsOf(answer);
    expect(left).toBe(0);
    expect(events.map(({ headers }) => headers[':event-type'])).toEqual([
      'messageStart',
      ...['contentBlockStart', 'contentBlockDelta', 'contentBlockStop'],
      ...['contentBlockStart', 'contentBlockDelta', 'contentBlockStop'],
      ...['messageStop', 'metadata'],
    ]);
    expect(events.every(({ text }) => typeof JSON.parse(text).p === 'string')).toBe(true);
    expect(events[0]?.headers).toEqual({
      ':event-type': 'messageStart',
      ':content-type': 'application/json',
      ':message-type': 'event',
    });
  });

  it.each([
    ['error-after-chunks:2', 'internalServerException'],
    ['error-after-chunks:2:rate_limit_exceeded', 'throttlingException'],
    ['error-after-chunks:2:ModelStreamErrorException', 'modelStreamErrorException'],
  ])('%s ends with the exception %s', async (name, type) => {
    const { events } = eventsOf(await sendTo(name, 'converse-stream'));
    expect(events).toHaveLength(4);
    expect(events[3]?.headers).toMatchObject({ ':message-type': 'exception', ':exception-type': type });
    expect(JSON.parse(events[3]?.text ?? '').message).toMatch(/./);
    const errors: unknown[] = [];
    const streamed = stream(name, { onError: ({ error }: { error: unknown }) => errors.push(error) });
    let text = '';
    for await (const piece of streamed.textStream) text += piece;
    expect([text, errors.length]).toEqual(['Hello! You', 1]);
  });

  it('is cut within a message, and in bytes of any number', async () => {
    const cut = await sendTo('cut:2', 'converse-stream');
    expect([cut.isBroken, eventsOf(cut).events.length]).toEqual([true, 3]);
    const single = await sendTo('split-utf8', 'converse-stream');
    expect(single.pieces.every((piece) => piece.length === 1)).toBe(true);
    const texts = eventsOf(single).events.map(({ text }) => JSON.parse(text).delta?.text ?? '');
    expect(texts.join('')).toContain('你好 世界');
  });
});
