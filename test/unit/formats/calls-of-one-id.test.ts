// Some servers give several calls of an answer one id: each is a call of its own to the client.
import { expect, it } from '#jest';
import { jsonOf, streamOf } from '../../support/provider-answers.ts';
import { readChunks } from '../../support/read-chunks.ts';
import { ask, type Json, jsonAnswer, readTexts } from './fake-send.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field.
type Any = any;

const api = 'generate-content';
const blocks = [
  { id: 'call_0', name: 'one', args: { n: 1 } },
  { id: 'call_0', name: 'two', args: { n: 2 } },
];

const user = [{ role: 'user', content: 'Hi.' }];
const clients: Record<
  string,
  { asks: Json; whole: (answer: Any) => string[]; streamed: (texts: string[]) => string[] }
> = {
  'chat-completions': {
    asks: { messages: user },
    whole: ({ choices: [{ message }] }) =>
      message.tool_calls.map((call: Any) => call.function.name + call.function.arguments),
    streamed: (texts) =>
      readChunks(texts).message.tool_calls.map((call: Any) => call.function.name + call.function.arguments),
  },
  messages: {
    asks: { messages: user },
    whole: ({ content }) =>
      content.flatMap((one: Any) => (one.type === 'tool_use' ? [one.name + JSON.stringify(one.input)] : [])),
    streamed: (texts) => {
      const events = texts.slice(0, -1).map((text): Any => JSON.parse(text));
      return events.flatMap(({ content_block: block, index }) => {
        const deltas = events.filter((event) => event.index === index).map(({ delta }) => delta?.partial_json ?? '');
        return block?.type === 'tool_use' ? [block.name + deltas.join('')] : [];
      });
    },
  },
  responses: {
    asks: { input: 'Hi.' },
    whole: ({ output }) =>
      output.flatMap((one: Any) => (one.type === 'function_call' ? [one.name + one.arguments] : [])),
    streamed: (texts) => clients.responses?.whole(JSON.parse(texts.at(-2) ?? '').response) ?? [],
  },
};

it.each(Object.entries(clients))(
  'two calls to which their provider gave one id are two to a client of %s, whole and streamed',
  async (interfaceId, { asks, whole, streamed }) => {
    const asked = { api, interfaceId: interfaceId as 'messages', body: asks } as const;
    const { outcome } = await ask({ ...asked, answer: jsonAnswer(jsonOf(api, { blocks })) });
    if (outcome.kind !== 'json') throw new Error(JSON.stringify(outcome));
    expect(whole(JSON.parse(outcome.answer.text))).toEqual(['one{"n":1}', 'two{"n":2}']);
    const { outcome: stream } = await ask({ ...asked, stream: true, answer: streamOf(api, { blocks }) });
    expect(streamed((await readTexts(stream)).texts)).toEqual(['one{"n":1}', 'two{"n":2}']);
  },
);
