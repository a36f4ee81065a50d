// Models that reason for minutes without any output. Tests move the clock by hand, so nothing here waits.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from '#jest';
import { encode } from '../../infra/local/simulator/formats/bedrock-converse.ts';
import { keepAliveCommentMs, streamReadOnMaxMs } from '../../shared/foundation/constants/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { readRest, readUntil } from '../support/read-stream.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { type SpokenInterface, spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';
import { eventually, watchedClock } from '../support/watched-clock.ts';

const idleMs = 14_000;
const eventOf = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;

interface Thinking {
  /** The last text that a client of the same interface sees before the silence, if any. */
  readonly lastSeen?: string;
  readonly contentType?: string;
  readonly begins: string | Uint8Array;
  /** Bytes that a provider of the format sends while its model reasons; undefined if it is silent. */
  readonly alive?: string;
  readonly answers: string | Uint8Array;
  readonly ends: string | Uint8Array;
}

const frames = (...events: [string, object][]) =>
  Buffer.concat(events.map(([event, members]) => encode({ event, text: JSON.stringify(members) })));
const delta = (contentBlockIndex: number, members: object): [string, object] => [
  'contentBlockDelta',
  { contentBlockIndex, delta: members },
];
const parts = (...some: object[]) =>
  `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: some } }] })}\n\n`;

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
const response = { id: 'resp_1', object: 'response', model: 'm', output: [] };
const reasoningItem = { id: 'rs_1', type: 'reasoning', summary: [] };
const messageItem = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
const textDelta = { item_id: 'msg_1', content_index: 0, logprobs: [] };
const usage = { input_tokens: 10, output_tokens: 9 };

const thinkingOf: Readonly<Record<string, Thinking>> = {
  messages: {
    lastSeen: '"thinking":""',
    begins:
      eventOf('message_start', { message: { ...message, usage } }) +
      eventOf('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    alive: eventOf('ping'),
    answers:
      eventOf('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }) +
      eventOf('content_block_stop', { index: 0 }) +
      eventOf('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }) +
      eventOf('content_block_delta', { index: 1, delta: { type: 'text_delta', text: 'thought' } }),
    ends:
      eventOf('content_block_stop', { index: 1 }) +
      eventOf('message_delta', { delta: { stop_reason: 'end_turn' }, usage }) +
      eventOf('message_stop'),
  },
  responses: {
    lastSeen: '"rs_1"',
    begins:
      eventOf('response.created', { sequence_number: 0, response: { ...response, status: 'in_progress' } }) +
      eventOf('response.output_item.added', { sequence_number: 1, output_index: 0, item: reasoningItem }),
    alive: ': alive\n\n',
    answers:
      eventOf('response.output_item.done', { sequence_number: 2, output_index: 0, item: reasoningItem }) +
      eventOf('response.output_item.added', { sequence_number: 3, output_index: 1, item: messageItem }) +
      eventOf('response.output_text.delta', { sequence_number: 4, output_index: 1, ...textDelta, delta: 'thought' }),
    ends: eventOf('response.completed', { sequence_number: 5, response: { ...response, status: 'completed', usage } }),
  },
  'chat-completions': {
    lastSeen: '"reasoning_content":"Let',
    begins: chunk({ role: 'assistant', content: '' }) + chunk({ reasoning_content: 'Let me see' }),
    alive: ': alive\n\n',
    answers: chunk({ content: 'thought' }),
    ends: `${chunk({}, 'stop')}data: [DONE]\n\n`,
  },
  converse: {
    contentType: 'application/vnd.amazon.eventstream',
    begins: frames(['messageStart', { role: 'assistant' }], delta(0, { reasoningContent: { text: '' } })),
    answers: frames(
      delta(0, { reasoningContent: { signature: 'c2ln' } }),
      ['contentBlockStop', { contentBlockIndex: 0 }],
      delta(1, { text: 'thought' }),
    ),
    ends: frames(
      ['contentBlockStop', { contentBlockIndex: 1 }],
      ['messageStop', { stopReason: 'end_turn' }],
      ['metadata', { usage: { inputTokens: 10, outputTokens: 9, totalTokens: 19 }, metrics: { latencyMs: 1 } }],
    ),
  },
  'generate-content': {
    begins: parts({ text: 'Let me see', thought: true }),
    answers: parts({ text: 'thought' }),
    ends: `data: ${JSON.stringify({ candidates: [{ index: 0, finishReason: 'STOP' }] })}\n\n`,
  },
};

/** Clients of Messages and Responses, at providers of every other format. */
const others = spokenInterfaces
  .filter(({ id }) => id !== 'chat-completions')
  .flatMap((clientInterface) => {
    const apis = Object.keys(thinkingOf).filter((api) => api !== clientInterface.id) as SpokenInterface['api'][];
    return apis.map(
      (api): SpokenInterface => ({ ...clientInterface, api, name: `${clientInterface.name} for ${api}` }),
    );
  });
const interfacesHere = [...spokenInterfaces, ...translatedInterfaces, ...others];
/** One interface for each provider format, for rules that depend on no format. */
const someHere = interfacesHere.filter(({ id, api, name }) => id === api || name === 'chat completions for converse');

/** The text with which a translated answer begins. */
const firstEvents: Readonly<Record<string, string>> = {
  'chat-completions': '"role":"assistant","content":""',
  messages: '"type":"thinking"',
  responses: '"type":"reasoning"',
};
const lastSeenOf = ({ id, api }: SpokenInterface, { lastSeen = '' }: Thinking): string =>
  id === api ? lastSeen : (firstEvents[id] ?? '');

const clock = watchedClock();
let provider: ScriptedProvider;
let gateway: Harness;
let thinker: PromiseWithResolvers<ServerResponse>;
let contentType: string;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    outgoing.writeHead(200, { 'content-type': contentType });
    thinker.resolve(outgoing);
  });
  const apis = [...new Set(interfacesHere.map(({ api }) => api))];
  const dear = { input_price_per_million: '90', output_price_per_million: '90' };
  const models = apis.map((api) => [
    `think/${api}`,
    [
      { provider: `thinks-${api}`, upstream: 'any' },
      { provider: `good-${api}`, upstream: 'echo', more: dear },
    ],
  ]);
  const providers = apis.flatMap((api) => [
    [`thinks-${api}`, { base_url: provider.url, apis: [api], idle_timeout_ms: idleMs }],
    [`good-${api}`, { apis: [api] }],
  ]);
  gateway = await startHarness({
    clock,
    streamBudgetSeconds: 300,
    models: Object.fromEntries(models),
    providers: Object.fromEntries(providers),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

/** Starts a stream that its provider has accepted. */
async function startStream({ path, hello, api }: SpokenInterface, more: object = {}) {
  thinker = Promise.withResolvers();
  gateway.simulator.clear();
  clock.forget();
  const thinking = thinkingOf[api] as Thinking;
  contentType = thinking.contentType ?? 'text/event-stream';
  const client = new AbortController();
  const answer = gateway.postTo(path, hello(`think/${api}`, { stream: true, ...more }), {}, client.signal);
  const outgoing = await thinker.promise;
  return { answer, outgoing, client, thinking };
}

/** Starts a stream in which nothing but the model's reasoning has come. */
async function startThinking(clientInterface: SpokenInterface, more: object = {}) {
  const { answer, outgoing, client, thinking } = await startStream(clientInterface, more);
  outgoing.write(thinking.begins);
  const reader = await readUntil(await answer, lastSeenOf(clientInterface, thinking));
  return { outgoing, reader, thinking, client };
}

it.each(interfacesHere)(
  'a model that has begun to think is waited for as long as the stream may take, and no other is called: $name',
  async (clientInterface) => {
    const { outgoing, reader, thinking } = await startThinking(clientInterface);
    if (thinking.alive !== undefined) outgoing.write(thinking.alive);
    // The keep-alive runs from the opening of the stream on.
    await clock.waitsFor((delayMs) => delayMs === keepAliveCommentMs);
    clock.advance(250_000);
    expect(outgoing.closed).toBe(false);
    outgoing.write(thinking.answers);
    outgoing.end(thinking.ends);
    const text = await readRest(reader);
    expect(text).toContain('thought');
    expect(text).toMatch(/: keep-alive|event: ping/);
    expect(clientInterface.brokenWith(text)).toBeUndefined();
    expect(gateway.simulator.calls).toEqual([]);
  },
);

it.each(someHere)('once it answers its provider may not fall silent: $name', async (clientInterface) => {
  const { outgoing, reader, thinking } = await startThinking(clientInterface);
  clock.forget();
  outgoing.write(thinking.answers);
  await clock.waitsFor((delayMs) => delayMs === idleMs);
  clock.advance(idleMs - 1);
  expect(outgoing.closed).toBe(false);
  clock.advance(1);
  expect(clientInterface.brokenWith(await readRest(reader))).toBe('no_available_provider');
  await eventually(() => outgoing.closed);
  expect(gateway.simulator.calls).toEqual([]);
});

/** Returns the record of a call whose client leaves now, ten seconds before its provider ends. */
async function recordOfLeaver(client: AbortController, outgoing: ServerResponse) {
  clock.forget();
  client.abort();
  await clock.waitsFor((delayMs) => delayMs === streamReadOnMaxMs);
  clock.advance(streamReadOnMaxMs);
  await eventually(() => outgoing.closed);
  await gateway.settled();
  const { spent, held } = await gateway.credit();
  const records = await gateway.records();
  // The records add up to the charge.
  expect(records.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n)).toBe(spent);
  expect(held).toBe(0n);
  return records.at(-1);
}

/** Returns the estimated tokens: 50 a second, without the first five seconds. */
const writtenIn = (seconds: number) => (seconds - 5) * 50;

it.each(someHere)(
  'a client that leaves before anything is seen pays for the time in which its provider was at work: $name',
  async (clientInterface) => {
    const { answer, outgoing, client } = await startStream(clientInterface);
    outgoing.flushHeaders();
    // This request is answered after the stream's head.
    await (await gateway.get('/models')).text();
    clock.advance(8_000);
    answer.catch(() => {});
    const record = await recordOfLeaver(client, outgoing);
    expect(record).toMatchObject({ outcome: 'client_gone', completionTokens: writtenIn(18), estimated: true });
    expect(record?.promptTokens).toBeGreaterThan(0);
  },
);

/** Chat completions and Gemini show the model's reasoning, so they are left out. */
const silentInterfaces = interfacesHere.filter(({ api }) => api !== 'chat-completions' && api !== 'generate-content');

it.each(silentInterfaces)(
  'a client that leaves while its model thinks unseen pays for what it thinks, within what was reserved: $name',
  async (clientInterface) => {
    const long = await startThinking(clientInterface);
    clock.advance(60_000);
    const record = await recordOfLeaver(long.client, long.outgoing);
    expect(record).toMatchObject({ outcome: 'client_gone', estimated: true });
    expect(record?.completionTokens).toBeGreaterThanOrEqual(writtenIn(70));
    // The bound allows for the count in a Messages start, and for an empty reasoning block.
    expect(record?.completionTokens).toBeLessThanOrEqual(writtenIn(70) + 9);
    const bounded = await startThinking(clientInterface, { max_tokens: 200 });
    clock.advance(60_000);
    expect((await recordOfLeaver(bounded.client, bounded.outgoing))?.completionTokens).toBe(200);
  },
);

it('a client that leaves while it reads what a model thinks pays for what it could read', async () => {
  const [chat] = spokenInterfaces.filter(({ api }) => api === 'chat-completions');
  const { outgoing, client } = await startThinking(chat as SpokenInterface);
  clock.advance(60_000);
  // The output has eleven bytes.
  expect(await recordOfLeaver(client, outgoing)).toMatchObject({ completionTokens: 3, estimated: true });
});
