// An unknown or empty finish reason is no good end. A reason that reports a fault makes no answer, whichever format the
// provider has and whichever client asked. No part of it is stored under an Idempotency-Key.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { InterfaceId } from '../../shared/foundation/constants/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { apis, type FakeAnswer, jsonOf, streamOf } from '../support/provider-answers.ts';
import {
  chunkEvent,
  completionOf,
  type ScriptedProvider,
  startScriptedProvider,
} from '../support/scripted-provider.ts';
import { spokenInterfaces } from '../support/spoken-interfaces.ts';

const formats = ['chat-completions', ...apis] as const;
type Format = (typeof formats)[number];
const answerText = 'Transfer 100 dollars';

/** Returns the events of a whole answer with this finish reason, with or without the format's own end marker. */
function streamAnswer(format: Format, reason: string, hasOwnEnd: boolean): FakeAnswer {
  if (format === 'chat-completions') {
    const firstEvent = chunkEvent({ content: 'Transfer ' }, /^\s*(null)?\s*$/.test(reason) ? reason : null);
    const text = `${firstEvent}${chunkEvent({ content: '100 dollars' }, reason)}${hasOwnEnd ? 'data: [DONE]\n\n' : ''}`;
    return { contentType: 'text/event-stream', bytes: [Buffer.from(text)] };
  }
  const { bytes, contentType } = streamOf(format, { blocks: [{ text: answerText }], reason });
  return { contentType, bytes: hasOwnEnd || format !== 'messages' ? bytes : bytes.slice(0, -1) };
}

function whole(format: Format, reason: string): string {
  if (format === 'chat-completions') return completionOf({ content: answerText, finish_reason: reason });
  const answer = jsonOf(format, { blocks: [{ text: answerText }], reason });
  return JSON.stringify(reason === 'cancelled' ? { ...answer, status: reason } : answer);
}

let next: { readonly format: Format; readonly reason: string; readonly hasOwnEnd: boolean };
let gateway: Harness;
let brokenProvider: ScriptedProvider;
beforeAll(async () => {
  brokenProvider = await startScriptedProvider((outgoing, call) => {
    const { format, reason, hasOwnEnd } = next;
    const isStream =
      /"stream":true/.test(brokenProvider.bodies[call] ?? '') || format === 'converse' || format === 'generate-content';
    const answer = isStreamAsked && isStream ? streamAnswer(format, reason, hasOwnEnd) : undefined;
    outgoing.writeHead(200, { 'content-type': answer?.contentType ?? 'application/json' });
    outgoing.end(answer === undefined ? whole(format, reason) : Buffer.concat(answer.bytes));
  });
  gateway = await startHarness({
    models: Object.fromEntries(
      formats.flatMap((format) => [
        [`alone/${format}`, [{ provider: format, upstream: 'm' }]],
        [
          `twice/${format}`,
          [
            { provider: format, upstream: 'm' },
            { provider: 'good', upstream: 'echo' },
          ],
        ],
      ]),
    ),
    providers: {
      ...Object.fromEntries(formats.map((format) => [format, { apis: [format], base_url: brokenProvider.url }])),
      good: { apis: ['chat-completions'] },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await brokenProvider.stop();
});

let isStreamAsked = false;
async function ask(id: InterfaceId, model: string, stream: boolean, headers: Record<string, string> = {}) {
  const clientInterface = spokenInterfaces.find((one) => one.id === id);
  if (clientInterface === undefined) throw new Error(id);
  isStreamAsked = stream;
  const body = {
    ...clientInterface.hello(model, stream ? { stream } : {}),
    ...(id === 'messages' ? { max_tokens: 100 } : {}),
  };
  const response = await gateway.postTo(clientInterface.path, body, { 'x-gw-error-format': 'openai', ...headers });
  const text = await response.text();
  return {
    status: response.status,
    text,
    brokenWith: stream ? clientInterface.brokenWith(text) : undefined,
    headers: response.headers,
  };
}

const clients = ['chat-completions', 'messages', 'responses'] as const;
/** Finish reasons of a format that report a fault, and an unknown one. */
const brokenWords: Readonly<Record<Format, readonly string[]>> = {
  'chat-completions': ['error', 'insufficient_system_resource'],
  messages: ['error'],
  responses: ['max_messages'],
  converse: ['malformed_model_output', 'error'],
  'generate-content': ['MALFORMED_FUNCTION_CALL'],
};
const blankWords: Readonly<Record<Exclude<Format, 'converse' | 'responses'>, readonly string[]>> = {
  'chat-completions': ['', ' ', 'null'],
  messages: [''],
  'generate-content': ['', ' '],
};

const rows = (words: Readonly<Partial<Record<Format, readonly string[]>>>) =>
  clients.flatMap((client) =>
    Object.entries(words).flatMap(([format, list]) => list.map((word) => [client, format as Format, word] as const)),
  );

describe.each(rows(brokenWords))('a client of %s, at %s, whose answer ends with "%s"', (client, format, reason) => {
  it('is answered by the next provider if nothing was sent yet', async () => {
    next = { format, reason, hasOwnEnd: true };
    const answer = await ask(client, `twice/${format}`, false);
    expect([answer.status, answer.headers.get('x-gw-provider')]).toEqual([200, 'good']);
    expect(answer.text).not.toContain(answerText);
  });

  it('gets a broken stream, and nothing of it is replayed', async () => {
    next = { format, reason, hasOwnEnd: true };
    const key = { 'idempotency-key': `${client}-${format}-${reason}` };
    const first = await ask(client, `alone/${format}`, true, key);
    expect([first.status, first.brokenWith]).toEqual([200, 'no_available_provider']);
    const callsBefore = brokenProvider.bodies.length;
    await ask(client, `alone/${format}`, true, key);
    expect(brokenProvider.bodies.length).toBeGreaterThan(callsBefore);
  });
});

describe.each(rows(blankWords))('a client of %s, at %s, whose stream ends with "%s"', (client, format, reason) => {
  it('gets a broken stream if the format has not said its own end', async () => {
    next = { format, reason, hasOwnEnd: false };
    const answer = await ask(client, `alone/${format}`, true);
    expect([answer.status, answer.brokenWith]).toEqual([200, 'no_available_provider']);
  });

  it('gets a whole JSON answer as one that has stopped', async () => {
    next = { format, reason, hasOwnEnd: true };
    const answer = await ask(client, `alone/${format}`, false);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(answerText)]);
  });
});

describe.each(rows({ 'chat-completions': ['', 'null'], messages: [''], converse: [''] }))(
  'a client of %s, at %s, whose stream ends with "%s"',
  (client, format, reason) => {
    it('gets a whole stream if the format has said its own end', async () => {
      next = { format, reason, hasOwnEnd: true };
      const answer = await ask(client, `alone/${format}`, true);
      expect([answer.status, answer.brokenWith]).toEqual([200, undefined]);
      expect(answer.text).toContain('100');
    });
  },
);

it.each(clients)('a word that is new is a good end: client of %s', async (client) => {
  for (const format of formats.filter((one): one is Exclude<Format, 'responses'> => one !== 'responses')) {
    next = { format, reason: 'because_it_was_time', hasOwnEnd: true };
    expect([format, (await ask(client, `alone/${format}`, true)).brokenWith]).toEqual([format, undefined]);
    expect([format, (await ask(client, `alone/${format}`, false)).status]).toEqual([format, 200]);
  }
});

it.each(clients)('a response that was cancelled is no answer: client of %s', async (client) => {
  next = { format: 'responses', reason: 'cancelled', hasOwnEnd: true };
  expect((await ask(client, 'alone/responses', false)).status).toBe(502);
});

it.each(clients)('a response that is incomplete without a word for why was cut: client of %s', async (client) => {
  const words: Readonly<Record<(typeof clients)[number], string>> = {
    'chat-completions': '"finish_reason":"length"',
    messages: '"stop_reason":"max_tokens"',
    responses: '"status":"incomplete"',
  };
  for (const reason of ['', ' ', 'null']) {
    for (const stream of [false, true]) {
      next = { format: 'responses', reason, hasOwnEnd: true };
      const answer = await ask(client, 'alone/responses', stream);
      expect([answer.status, answer.brokenWith]).toEqual([200, undefined]);
      expect(answer.text).toContain(words[client]);
    }
  }
});
