import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { citySchema } from './client-gateway.ts';
import {
  type ClientUnderTest,
  type Connection,
  question,
  toolName,
  toolQuestion,
  toolResult,
} from './client-under-test.ts';

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
const response_format = zodResponseFormat(z.object({ label: z.string() }), 'label');

export function openaiClient(connection: Connection): ClientUnderTest {
  const { completions } = new OpenAI(connection).chat;
  return {
    async answer(model) {
      const { choices, usage } = await completions.create({ model, messages });
      return { text: choices[0]?.message.content ?? '', cost: (usage as { cost?: number } | undefined)?.cost };
    },
    async stream(model) {
      let text = '';
      const chunks = await completions.create({ model, messages, stream: true });
      for await (const { choices } of chunks) text += choices[0]?.delta.content ?? '';
      return text;
    },
    async tools(model) {
      const asked: unknown[] = [];
      const runner = completions.runTools({
        model,
        messages: [{ role: 'user', content: toolQuestion }],
        tools: [
          {
            type: 'function',
            function: {
              name: toolName,
              description: 'Asks about a city',
              parameters: { ...citySchema, required: [...citySchema.required] },
              parse: (text: string): object => JSON.parse(text),
              function: (args: object) => {
                asked.push(args);
                return toolResult;
              },
            },
          },
        ],
      });
      return { text: (await runner.finalContent()) ?? '', asked };
    },
    async schema(model) {
      const { choices } = await completions.parse({ model, messages, response_format });
      return choices[0]?.message.parsed;
    },
    async streamedSchema(model) {
      const stream = completions.stream({ model, messages, response_format });
      const { choices } = await stream.finalChatCompletion();
      return choices[0]?.message.parsed;
    },
  };
}
