import { type Draft, type Heard, type PlaygroundInterface, type PlaygroundTurn, said } from './draft.ts';
import { responsesPython } from './sdk-code.ts';

export const responses: PlaygroundInterface = {
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
  readEvent: ({ type, delta, item = {}, output_index: at = 0, response, ...event }): Heard => {
    if (type === 'error') return failureOf(event.error ?? event);
    if (type === 'response.failed') return failureOf(response?.error ?? {});
    if (type === 'response.output_text.delta') return { text: String(delta ?? '') };
    if (type === 'response.output_item.added') return { calls: callIn({ ...item, arguments: '' }, at) };
    return type === 'response.function_call_arguments.delta' ? { calls: [{ at, arguments: String(delta ?? '') }] } : {};
  },
  python: responsesPython,
};

interface ResponsesItem {
  readonly type?: string;
  readonly content?: readonly { readonly text?: string }[];
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

const failureOf = ({ code, message }: { readonly code?: unknown; readonly message?: unknown }): Heard => ({
  failure: { code: String(code), message: String(message) },
});

const callIn = ({ type, call_id: id = '', name = '', arguments: written = '' }: ResponsesItem, at: number) =>
  type === 'function_call' ? [{ at, id, name, arguments: written }] : [];

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
