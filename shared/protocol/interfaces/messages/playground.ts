import {
  anthropic,
  type Draft,
  definedFields,
  type PlaygroundInterface,
  type PlaygroundTurn,
  pythonOf,
} from '../../playground/index.ts';
import { openMessageFold } from './stream-fold.ts';

/** Output bound, which the interface requires. */
const outputTokensDefault = 1_024;

const python = pythonOf(anthropic, {
  name: 'messages',
  streamed: `for event in answer:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="", flush=True)`,
  whole: `for block in answer.content:
    print(block.model_dump_json(indent=2))`,
  // The second version of Anthropic's SDK has no `temperature`.
  arguments: ['model', 'messages', 'system', 'max_tokens', 'tools'],
});

export const playground: PlaygroundInterface = {
  title: 'Messages',
  path: '/messages',
  hasStreams: true,
  hasTurns: true,
  body: ({ model, system, turns, temperature, outputTokensMax, tools, more, streams }: Draft) => ({
    ...definedFields({
      model,
      system,
      messages: turns.map(messageOf),
      temperature,
      max_tokens: outputTokensMax ?? outputTokensDefault,
      tools:
        tools.length === 0
          ? undefined
          : tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
      stream: streams || undefined,
    }),
    ...more,
  }),
  readAnswer: ({ content = [] }) => ({
    text: (content as readonly MessagesBlock[]).map(({ text = '' }) => text).join(''),
    calls: (content as readonly MessagesBlock[]).flatMap(callIn),
  }),
  // The input is shown as it was written, complete or not.
  openFold: () => openMessageFold((text) => text),
  python,
};

interface MessagesBlock {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
}

const callIn = ({ type, id = '', name = '', input = {} }: MessagesBlock) =>
  type === 'tool_use' ? [{ id, name, arguments: typeof input === 'string' ? input : JSON.stringify(input) }] : [];

function messageOf(turn: PlaygroundTurn): object {
  if (turn.role === 'tool') {
    const results = turn.results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text }));
    return { role: 'user', content: results };
  }
  if (turn.role === 'user') {
    return { role: 'user', content: [...turn.images.map(imageOf), { type: 'text', text: turn.text }] };
  }
  const calls = turn.calls.map(({ id, name, arguments: written }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(written || '{}') as unknown,
  }));
  return { role: 'assistant', content: [...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]), ...calls] };
}

function imageOf(dataUrl: string): object {
  const [, media_type = '', data = ''] = /^data:([^;,]*);base64,(.*)$/s.exec(dataUrl) ?? [];
  return { type: 'image', source: { type: 'base64', media_type, data } };
}
