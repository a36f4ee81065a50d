import {
  type Draft,
  definedFields,
  isFunction,
  openAi,
  type PlaygroundInterface,
  type PlaygroundTool,
  type PlaygroundTurn,
  pythonOf,
} from '../../playground/index.ts';
import { openCompletionFold } from './stream-fold.ts';

const python = pythonOf(openAi, {
  name: 'chat.completions',
  streamed: `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
  whole: 'print(answer.choices[0].message.model_dump_json(indent=2))',
  arguments: ['model', 'messages', 'temperature', 'max_tokens', 'tools'],
});

export const playground: PlaygroundInterface = {
  title: 'Chat completions',
  path: '/chat/completions',
  hasStreams: true,
  hasTurns: true,
  body: (draft) => (isFunction(draft.model) ? functionBody(draft) : chatBody(draft)),
  readAnswer: ({ choices = [] }) => ({
    text: textOf(choices[0]?.message?.content),
    calls: callsIn(choices[0]?.message?.tool_calls),
  }),
  openFold: openCompletionFold,
  python,
};

const chatBody = ({ model, system, turns, temperature, outputTokensMax, tools, more, streams }: Draft) => ({
  ...definedFields({
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turns.flatMap(messagesOf)],
    temperature,
    max_tokens: outputTokensMax,
    tools: tools.length === 0 ? undefined : tools.map((tool: PlaygroundTool) => ({ type: 'function', function: tool })),
    stream: streams || undefined,
  }),
  ...more,
});

/** Writes the body for a function, which has its own messages and options, and accepts only the input. */
function functionBody({ model, turns, more }: Draft) {
  const last = turns.findLast(({ role }) => role === 'user');
  return { model, messages: last === undefined ? [] : messagesOf(last), ...more };
}

function messagesOf(turn: PlaygroundTurn): object[] {
  if (turn.role === 'tool') {
    return turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
  }
  if (turn.role === 'user') {
    const images = turn.images.map((url) => ({ type: 'image_url', image_url: { url } }));
    const content = images.length === 0 ? turn.text : [{ type: 'text', text: turn.text }, ...images];
    return [{ role: 'user', content }];
  }
  const calls = turn.calls.map(({ id, name, arguments: written }) => ({
    id,
    type: 'function',
    function: { name, arguments: written },
  }));
  return [{ role: 'assistant', content: turn.text || null, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

const textOf = (content: unknown): string => (typeof content === 'string' ? content : '');

interface WrittenCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

const callsIn = (calls: readonly WrittenCall[] | null | undefined) =>
  (calls ?? []).map(({ id = '', function: calledFunction }) => ({
    id,
    name: calledFunction?.name ?? '',
    arguments: calledFunction?.arguments ?? '',
  }));
