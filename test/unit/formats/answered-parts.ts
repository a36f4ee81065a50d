// Reads the parts of a client's answer, from its JSON and from its accumulated stream.
import { readChunks } from '../../support/read-chunks.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field.
type Any = any;

export const answeredParts = {
  'chat-completions': {
    whole: ({ choices: [{ message }] }: Any): Any[] => message.tool_calls,
    streamed: (texts: readonly string[]): Any[] => readChunks([...texts]).message.tool_calls ?? [],
  },
  messages: {
    whole: ({ content }: Any): Any[] => content,
    streamed: (texts: readonly string[]): Any[] => {
      const events = texts.slice(0, -1).map((text): Any => JSON.parse(text));
      return events.flatMap(({ content_block: block, index }) => {
        if (block === undefined) return [];
        const deltas = events.filter((event) => event.index === index && event.delta !== undefined);
        const joined = (name: string) => deltas.map(({ delta }) => delta[name] ?? '').join('');
        if (block.type === 'tool_use') return [{ ...block, input: JSON.parse(joined('partial_json')) }];
        return [{ ...block, text: joined('text'), signature: joined('signature') }];
      });
    },
  },
  responses: {
    whole: ({ output }: Any): Any[] => output,
    streamed: (texts: readonly string[]): Any[] => JSON.parse(texts.at(-2) ?? '').response.output,
  },
};
