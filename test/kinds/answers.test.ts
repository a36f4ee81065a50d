// Every kind of provider answers, refuses and breaks in its own words, on each interface that it lists, through every
// client interface that it can serve. The suite has one gateway, and one server that plays the answers of the table.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { providerKindNames } from '../../shared/configuration/model-list/index.ts';
import type { ProviderApi } from '../../shared/foundation/constants/index.ts';
import { type ClientName, clientsOf, outcomeOf, type RecordedClient } from '../support/client-turns.ts';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';
import {
  type AnswerBytes,
  type AnswerRow,
  type ExpectedCharge,
  type ListedAnswer,
  type ListedStream,
  readRows,
  servedApis,
} from '../support/kind-answers.ts';
import { frames } from '../support/provider-answers.ts';
import type { RecordedOutcome, RecordedTurn } from '../support/recorded-turn.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

const rows = readRows();
const conversationApis = ['chat-completions', 'messages', 'responses', 'converse', 'generate-content'] as const;
type ConversationApi = (typeof conversationApis)[number];
const isConversation = (api: ProviderApi): api is ConversationApi =>
  (conversationApis as readonly ProviderApi[]).includes(api);
const clientNames: readonly ClientName[] = ['chat-completions', 'messages', 'responses'];

/**
 * Returns whether the interface has streams: interfaces of models with one form, and kinds whose images are translated,
 * answer whole only.
 */
const hasStreams = ({ kind, api }: AnswerRow): boolean =>
  isConversation(api) ||
  api === 'speech' ||
  api === 'transcriptions' ||
  (api === 'images' && (kind === 'openai' || kind === 'azure'));

describe('the table of answers', () => {
  it.each(providerKindNames)('has every interface that %s lists, and no other', (kind) => {
    const listedApis = rows.filter((row) => row.kind === kind).map(({ api }) => api);
    expect(listedApis.toSorted()).toEqual(servedApis(kind).toSorted());
  });

  it.each(rows.map((row) => [row.kind, row.api, row] as const))(
    '%s %s has a source and a date, answers in every form, and refusals, or says that no source has them',
    (_kind, _api, row) => {
      const { answers } = row;
      const { source, date, whole, streams = [], refusals = [], ends = {}, unsourced = [] } = answers;
      expect(source.length).toBeGreaterThan(20);
      expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(whole.length).toBeGreaterThan(0);
      if (hasStreams(row)) expect(streams.length > 0).toBe(!unsourced.includes('streams'));
      else expect([streams, unsourced.includes('streams')]).toEqual([[], false]);
      expect(refusals.length > 0).toBe(!unsourced.includes('refusals'));
      for (const refusal of refusals) expect(refusal.source).toMatch(/^https:\/\/|^vercel\/ai, /);
      if (isConversation(row.api)) expect(Object.keys(ends)).not.toEqual([]);
    },
  );
});

interface Played {
  readonly status?: number;
  readonly type: string;
  readonly bytes: Uint8Array | string;
}
let played: Played;
let provider: ScriptedProvider;
let gateway: Harness;
let clients: Readonly<Record<ClientName, RecordedClient>>;
/** The charges in the records, by call and in the order of the calls. */
const charges: { readonly call: string; readonly charged: ExpectedCharge | undefined }[] = [];

const modelOf = ({ kind, api }: AnswerRow): string => `${kind}/${api}`;
const vertexPath = '/v1/projects/p/locations/global/publishers/google';

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    outgoing.writeHead(played.status ?? 200, { 'content-type': played.type });
    outgoing.end(played.bytes);
  });
  const origin = new URL(provider.url).origin;
  const more = {
    ...{
      context_length: 1_000_000,
      max_output_tokens: 100_000,
      price_per_request: '0.001',
      output_price_per_image: '0.01',
    },
    input_price_per_second: '0.0001',
    reasoning_tokens: undefined,
  };
  gateway = await startHarness({
    models: Object.fromEntries(
      rows.map((row) => [
        modelOf(row),
        [{ provider: row.kind, upstream: row.answers.model, more: { ...pricesOf(row.api, more), apis: [row.api] } }],
      ]),
    ),
    modelMembers: Object.fromEntries(rows.map((row) => [modelOf(row), { context_length: 1_000_000 }])),
    providers: Object.fromEntries(
      providerKindNames.map((kind) => [
        kind,
        {
          kind,
          auth: 'none',
          apis: servedApis(kind),
          base_url: kind === 'vertex' ? origin + vertexPath : kind === 'cohere' ? origin : provider.url,
          ...(kind === 'bedrock' ? { region: 'eu-west-1' } : {}),
        },
      ]),
    ),
  });
  clients = clientsOf(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

/** Returns the prices of a model. Prices of units belong only to models that make such units. */
function pricesOf(
  api: ProviderApi,
  { price_per_request, output_price_per_image, input_price_per_second, ...plain }: Json,
): Json {
  const free = { ...plain, input_price_per_million: '0', output_price_per_million: '0' };
  if (api === 'rerank') return { ...plain, price_per_request };
  if (api === 'images') return { ...plain, output_price_per_image };
  if (api === 'transcriptions')
    return { ...free, input_price_per_million: '1', output_price_per_million: '2', input_price_per_second };
  if (api === 'speech')
    return {
      ...free,
      input_price_per_million: '1',
      output_price_per_million: '2',
      input_price_per_character: '0.00001',
    };
  return plain;
}

const isBytes = (body: Json | AnswerBytes): body is AnswerBytes => '$base64' in body;
const bytesOf = ({ $base64 }: AnswerBytes): Buffer => Buffer.from($base64, 'base64');
const playWhole = (body: Json | AnswerBytes, status = 200): void => {
  played = isBytes(body)
    ? { status, type: body.$type ?? 'application/octet-stream', bytes: bytesOf(body) }
    : { status, type: 'application/json', bytes: JSON.stringify(body) };
};

interface StreamForm {
  readonly comments?: string | undefined;
  readonly done?: boolean;
}
function playStream(api: ProviderApi, chunks: readonly Json[], { comments, done = false }: StreamForm = {}): void {
  if (api === 'converse') {
    const { bytes, contentType } = frames(...chunks.flatMap((chunk) => Object.entries(chunk) as [string, Json][]));
    played = { type: contentType, bytes: Buffer.concat(bytes) };
    return;
  }
  const events = chunks.map(
    (chunk) => `${typeof chunk.type === 'string' ? `event: ${chunk.type}\n` : ''}data: ${JSON.stringify(chunk)}\n\n`,
  );
  const head = comments === undefined ? '' : `${comments}\n\n`;
  played = { type: 'text/event-stream', bytes: `${head}${events.join('')}${done ? 'data: [DONE]\n\n' : ''}` };
}
const playRow = ({ api, answers }: AnswerRow, { chunks, done }: Pick<ListedStream, 'chunks' | 'done'>): void =>
  playStream(api, chunks, { comments: answers.comments, done: done ?? api === 'chat-completions' });

const chargedOf = ({ input, cached, output }: RecordedTurn['tokens']): ExpectedCharge => ({
  promptTokens: input,
  cachedTokens: cached,
  completionTokens: output,
  estimated: false,
});

async function ask(
  row: AnswerRow,
  client: ClientName,
  isStream: boolean,
  charged: ExpectedCharge | undefined,
  toolNames: readonly string[] = [],
): Promise<RecordedOutcome> {
  const model = modelOf(row);
  charges.push({ call: `${model} by ${client}, ${isStream ? 'streamed' : 'whole'}`, charged });
  return await outcomeOf(clients[client]({ model, isStream, toolNames }));
}

const namesIn = ({ calls }: RecordedTurn): string[] => [...new Set(calls.map(({ name }) => name))];
const textsOf = ({ text, thinking, calls }: RecordedTurn) => ({ text, thinking, calls });
const conversations = rows.filter(({ api }) => isConversation(api));
const eachConversation = conversations.map((row) => [row.kind, row.api, row] as const);

function expectTurn(row: AnswerRow, client: ClientName, found: RecordedOutcome, turn: RecordedTurn): void {
  const isRelayed = client === row.api;
  if (isRelayed && row.answers.relayedOtherwise !== undefined) return;
  if ('error' in found) throw new Error(`${modelOf(row)} by ${client}: ${found.error}`);
  expect([client, textsOf(found), isRelayed ? '' : found.end]).toEqual([
    client,
    textsOf(turn),
    isRelayed ? '' : turn.end,
  ]);
  if (!isRelayed || row.answers.relayedUsage === undefined)
    expect([client, found.tokens]).toEqual([client, turn.tokens]);
}

describe('an answer reaches clients of every interface as its provider said it, and is charged as reported', () => {
  it.each(eachConversation)('%s %s, whole', async (_kind, _api, row) => {
    for (const { body, turn } of row.answers.whole) {
      for (const client of clientNames) {
        playWhole(body);
        expectTurn(
          row,
          client,
          await ask(row, client, false, turn && chargedOf(turn.tokens), namesIn(turn as RecordedTurn)),
          turn as RecordedTurn,
        );
      }
    }
  });

  it.each(eachConversation)('%s %s, streamed', async (_kind, _api, row) => {
    for (const stream of row.answers.streams ?? []) {
      for (const client of clientNames) {
        playRow(row, stream);
        const turn = stream.turn as RecordedTurn;
        expectTurn(row, client, await ask(row, client, true, chargedOf(turn.tokens), namesIn(turn)), turn);
      }
    }
  });
});

const paths: Readonly<Record<ClientName, string>> = {
  'chat-completions': '/chat/completions',
  messages: '/messages',
  responses: '/responses',
};
const requestOf = (client: ClientName, model: string, toolNames: readonly string[] = []): Json => {
  const schema = { type: 'object', properties: {} };
  const tools = toolNames.map((name) =>
    client === 'chat-completions'
      ? { type: 'function', function: { name, parameters: schema } }
      : client === 'messages'
        ? { name, input_schema: schema }
        : { type: 'function', name, parameters: schema, strict: false },
  );
  const input = client === 'responses' ? { input: 'Hello' } : { messages: [{ role: 'user', content: 'Hello' }] };
  return {
    model,
    ...input,
    ...(client === 'messages' ? { max_tokens: 2_000 } : {}),
    ...(tools.length > 0 ? { tools } : {}),
  };
};
async function post(row: AnswerRow, client: ClientName, toolNames: readonly string[] = []): Promise<Response> {
  charges.push({ call: `${modelOf(row)} by ${client}`, charged: undefined });
  return await gateway.postTo(paths[client], requestOf(client, modelOf(row), toolNames));
}

/** Returns the ids of tool calls, read from the fields that clients send back. */
const callIdsIn = (json: string): string[] =>
  [...json.matchAll(/"(?:call_id|id)":"([^"]*)"/g)].flatMap(([field, id = '']) =>
    field.startsWith('"call_id"') || /^(call|toolu|tooluse|tool)|^[A-Za-z0-9]{9}$|chatcmpl-tool/.test(id) ? [id] : [],
  );

it('ids of calls are ones that every client may send back, each its own', async () => {
  for (const row of conversations) {
    for (const { body, turn } of row.answers.whole) {
      if (turn === undefined || turn.calls.length === 0) continue;
      for (const client of clientNames) {
        playWhole(body);
        const text = await (await post(row, client, namesIn(turn))).text();
        const ids = [...new Set(callIdsIn(text))];
        expect([modelOf(row), client, ids.length]).toEqual([modelOf(row), client, turn.calls.length]);
        expect(ids.filter((id) => !/^[\w-]{1,64}$/.test(id))).toEqual([]);
      }
    }
  }
});

/** Returns the same answer with another finish reason. */
const withEnd: Readonly<Record<ConversationApi, (body: Json, word: string) => Json>> = {
  'chat-completions': (body, word) => ({
    ...body,
    choices: (body.choices as Json[]).map((choice) =>
      choice.finish_reason === null || choice.finish_reason === undefined ? choice : { ...choice, finish_reason: word },
    ),
  }),
  messages: (body, word) => {
    if ('stop_reason' in body) return { ...body, stop_reason: word };
    return body.type === 'message_delta' ? { ...body, delta: { ...(body.delta as Json), stop_reason: word } } : body;
  },
  responses(body, word) {
    const ended = (response: Json) => ({ ...response, status: 'incomplete', incomplete_details: { reason: word } });
    if (body.object === 'response') return ended(body);
    const { type, response } = body as { type: string; response: Json };
    return type === 'response.completed' ? { ...body, type: 'response.incomplete', response: ended(response) } : body;
  },
  converse: (body, word) => {
    if ('stopReason' in body) return { ...body, stopReason: word };
    return 'messageStop' in body ? { messageStop: { ...(body.messageStop as Json), stopReason: word } } : body;
  },
  'generate-content': (body, word) => ({
    ...body,
    candidates: (body.candidates as Json[] | undefined)?.map((candidate) =>
      candidate.finishReason === undefined ? candidate : { ...candidate, finishReason: word },
    ),
  }),
};
const isPlain = ({ turn }: ListedAnswer | ListedStream): boolean => turn?.calls.length === 0 && turn.text !== '';

it.each(eachConversation)('each end that %s has on %s means the same to all clients', async (_kind, api, row) => {
  const { ends = {}, whole, streams = [] } = row.answers;
  const [answer, stream] = [whole.find(isPlain), streams.find(isPlain)];
  for (const [word, meaning] of Object.entries(ends)) {
    for (const client of clientNames) {
      for (const isStream of [false, true]) {
        const change = withEnd[api as ConversationApi];
        if (isStream) {
          if (stream === undefined) throw new Error('no stream of a text alone');
          playRow(row, { ...stream, chunks: stream.chunks.map((chunk) => change(chunk, word)) });
        } else {
          if (answer === undefined) throw new Error('no whole answer of a text alone');
          playWhole(change(answer.body as Json, word));
        }
        const found = await ask(row, client, isStream, undefined);
        const end = 'error' in found ? 'failed' : found.end;
        // A relay returns the provider's own finish reason.
        const isRight = end === meaning || (client === api && meaning !== 'failed' && end === word);
        expect([modelOf(row), client, isStream, word, isRight ? meaning : end]).toEqual([
          modelOf(row),
          client,
          isStream,
          word,
          meaning,
        ]);
      }
    }
  }
});

/** Returns the first chunks with text or reasoning and drops the rest. */
function cut({ chunks }: ListedStream): readonly Json[] | undefined {
  const first = chunks.findIndex((chunk) =>
    /"(content|text|delta|reasoning_content|reasoning)":("[^"]+"|\{"text":"[^"]+)/.test(JSON.stringify(chunk)),
  );
  return first < 0 || first >= chunks.length - 1 ? undefined : chunks.slice(0, first + 1);
}

it.each(eachConversation)(
  'a stream of %s on %s that ends early, or breaks in its words, is no answer',
  async (_kind, _api, row) => {
    const { streams = [], broken = [] } = row.answers;
    const early = streams.flatMap((stream) => cut(stream) ?? []);
    const all = [...(early.length > 0 ? [early] : []), ...broken];
    for (const chunks of all) {
      for (const client of clientNames) {
        playStream(row.api, chunks, { comments: row.answers.comments });
        const found = await ask(row, client, true, undefined);
        expect([client, found]).toEqual([client, { error: expect.any(String) }]);
      }
    }
  },
);

/** Texts by which agents detect that they have to compact their history. */
const overflowWords: Readonly<Record<ClientName, RegExp>> = {
  'chat-completions': /maximum context length is \d+ tokens/,
  messages: /prompt is too long: \d+ tokens > \d+ maximum|exceed context limit: \d+ \+ \d+ > \d+/,
  responses: /maximum context length is \d+ tokens/,
};

it.each(eachConversation)('what %s refuses on %s reaches every client in its words', async (_kind, _api, row) => {
  for (const { status, body, words = '', reason } of row.answers.refusals ?? []) {
    for (const client of clientNames) {
      playWhole(body, status);
      const response = await post(row, client);
      const text = await response.text();
      expect([client, response.status, text]).toEqual([client, 400, expect.any(String)]);
      if (reason === 'context_length_exceeded') {
        expect(text).toMatch(overflowWords[client]);
      } else expect(text.replaceAll('\\"', '"')).toContain(words);
      if (client !== 'messages' && reason !== undefined) expect((JSON.parse(text) as Json).reason).toBe(reason);
    }
  }
});

const tasks = rows.filter(({ api }) => !isConversation(api));
/** The recording is longer than any answer of the table says; a sample is one byte. */
const wav = wavOf(250);
function wavOf(seconds: number): Buffer {
  const rate = 1_000;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + seconds * rate, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(seconds * rate, 40);
  return Buffer.concat([head, Buffer.alloc(seconds * rate, 128)]);
}
async function askTask(row: AnswerRow, isStream: boolean, charged: ExpectedCharge | undefined): Promise<Response> {
  const model = modelOf(row);
  charges.push({ call: `${model}, ${isStream ? 'streamed' : 'whole'}`, charged });
  const stream = isStream ? { stream: true } : {};
  switch (row.api) {
    case 'embeddings':
      return await gateway.postTo('/embeddings', {
        model,
        input: row.kind === 'openai' || row.kind === 'azure' ? ['a', 'b'] : 'a',
      });
    case 'rerank':
      return await gateway.postTo('/rerank', { model, query: 'Which?', documents: ['one', 'two'] });
    case 'moderations':
      return await gateway.postTo('/moderations', { model, input: 'Hello' });
    case 'images':
      return await gateway.postTo('/images/generations', { model, prompt: 'An otter', ...stream });
    case 'speech':
      return await gateway.postTo('/audio/speech', {
        model,
        input: 'Hello',
        voice: 'alloy',
        ...(isStream ? { stream_format: 'sse' } : {}),
      });
    default: {
      const form = new FormData();
      form.append('model', model);
      if (isStream) form.append('stream', 'true');
      form.append('file', new Blob([new Uint8Array(wav)], { type: 'audio/wav' }), 'speech.wav');
      return await fetch(`${gateway.url}/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: form,
      });
    }
  }
}

describe('models that write no conversation', () => {
  it.each(tasks.map((row) => [row.kind, row.api, row] as const))(
    '%s %s, whole and streamed, and what it refuses',
    async (_kind, _api, row) => {
      const { whole, streams = [], refusals = [] } = row.answers;
      for (const { body, gets, charged } of whole) {
        playWhole(body);
        const response = await askTask(row, false, charged);
        const bytes = Buffer.from(await response.arrayBuffer());
        expect([response.status, response.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
        if (gets !== undefined && isBytes(gets)) expect(bytes).toEqual(bytesOf(gets));
        else expect(JSON.parse(bytes.toString())).toMatchObject(gets ?? {});
      }
      for (const stream of streams) {
        playRow(row, stream);
        const response = await askTask(row, true, stream.charged);
        const lines = dataLines(await response.text());
        expect([
          response.status,
          (stream.gets ?? []).filter((piece) => !lines.some((line) => line.includes(piece))),
        ]).toEqual([200, []]);
      }
      for (const { status, body, words = '' } of refusals) {
        playWhole(body, status);
        const response = await askTask(row, false, undefined);
        expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(words)]);
      }
    },
  );
});

it('every answer was charged as its provider reported it', async () => {
  await gateway.lastRecord();
  const records = await gateway.records();
  expect(records).toHaveLength(charges.length);
  const wrong = charges.flatMap(({ call, charged }, index) => {
    if (charged === undefined) return [];
    const record = records[index] as Json | undefined;
    const found = Object.fromEntries(Object.keys(charged).map((name) => [name, record?.[name]]));
    return JSON.stringify(found) === JSON.stringify(charged) ? [] : [{ call, charged, found }];
  });
  expect(wrong).toEqual([]);
});
