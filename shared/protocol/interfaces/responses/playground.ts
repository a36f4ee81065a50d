import {
  type Draft,
  openAi,
  type PlaygroundInterface,
  type PlaygroundTurn,
  pythonOf,
  said,
} from '../../playground/index.ts';
import { openResponseFold } from './stream-fold.ts';

const python = pythonOf(openAi, {
  name: 'responses',
  streamed: `for event in answer:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)`,
  whole: `for item in answer.output:
    print(item.model_dump_json(indent=2))`,
  arguments: ['model', 'input', 'instructions', 'temperature', 'max_output_tokens', 'tools'],
});

export const playground: PlaygroundInterface = {
  title: 'Responses',
  path: '/responses',
  hasStreams: true,
  hasTurns: true,
  body: ({ model, system, turns, temperature, outputTokensMax, tools, more, streams }: Draft) => ({
    ...said({
      model,
      instructions: system,
      input: turns.flatMap(itemsOf),
      temperature,
      max_output_tokens: outputTokensMax,
      tools: tools.length === 0 ? undefined : tools.map((tool) => ({ type: 'function', ...tool })),
      stream: streams || undefined,
    }),
    ...more,
  }),
  readAnswer: ({ output = [] }) => ({
    text: (output as readonly ResponsesItem[])
      .flatMap(({ content = [] }) => content.map(({ text = '' }) => text))
      .join(''),
    calls: (output as readonly ResponsesItem[]).flatMap(callIn),
  }),
  openFold: openResponseFold,
  python,
};

interface ResponsesItem {
  readonly type?: string;
  readonly content?: readonly { readonly text?: string }[];
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

const callIn = ({ type, call_id: id = '', name = '', arguments: written = '' }: ResponsesItem) =>
  type === 'function_call' ? [{ id, name, arguments: written }] : [];

function itemsOf(turn: PlaygroundTurn): object[] {
  if (turn.role === 'tool') {
    return turn.results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
  }
  if (turn.role === 'user') {
    const images = turn.images.map((url) => ({ type: 'input_image', image_url: url }));
    return [{ role: 'user', content: [{ type: 'input_text', text: turn.text }, ...images] }];
  }
  const calls = turn.calls.map(({ id, name, arguments: written }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: written,
  }));
  return [...(turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }]), ...calls];
}
