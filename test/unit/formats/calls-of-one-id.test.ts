// Some servers give several tool calls of an answer the same id: the client gets each as a call of its own.
import { expect, it } from '#jest';
import { jsonOf, streamOf } from '../../support/provider-answers.ts';
import { answeredParts } from './answered-parts.ts';
import { ask, completionOf, jsonAnswer, readTexts } from './fake-send.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field.
type Any = any;

const api = 'generate-content';
const blocks = [
  { id: 'call_0', name: 'one', args: { n: 1 } },
  { id: 'call_0', name: 'two', args: { n: 2 } },
];

const callsOf = (parts: readonly Any[]) =>
  parts.flatMap(({ type, function: toolFunction, name, input, arguments: args }) => {
    if (type === 'function') return [toolFunction.name + toolFunction.arguments];
    if (type === 'tool_use') return [name + JSON.stringify(input)];
    return type === 'function_call' ? [name + args] : [];
  });

it.each(['chat-completions', 'messages', 'responses'] as const)(
  'two calls to which their provider gave one id are two to a client of %s, whole and streamed',
  async (interfaceId) => {
    const { whole, streamed } = answeredParts[interfaceId];
    const options = { api, interfaceId, body: interfaceId === 'responses' ? { input: 'Hi.' } : {} } as const;
    const { outcome } = await ask({ ...options, answer: jsonAnswer(jsonOf(api, { blocks })) });
    expect(callsOf(whole(completionOf(outcome)))).toEqual(['one{"n":1}', 'two{"n":2}']);
    const { outcome: stream } = await ask({ ...options, stream: true, answer: streamOf(api, { blocks }) });
    expect(callsOf(streamed((await readTexts(stream)).texts))).toEqual(['one{"n":1}', 'two{"n":2}']);
  },
);
