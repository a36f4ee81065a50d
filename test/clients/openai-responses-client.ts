import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
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

const text = { format: zodTextFormat(z.object({ label: z.string() }), 'label') };
const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: toolName, description: 'Asks about a city', parameters: citySchema, strict: true },
];

/** The interface that OpenAI shows first. */
export function openaiResponses(connection: Connection): ClientUnderTest {
  const { responses } = new OpenAI(connection);
  return {
    async answer(model) {
      const { output_text, usage } = await responses.create({ model, input: question });
      return { text: output_text, cost: (usage as { cost?: number } | undefined)?.cost };
    },
    async stream(model) {
      let whole = '';
      for await (const event of await responses.create({ model, input: question, stream: true })) {
        if (event.type === 'response.output_text.delta') whole += event.delta;
      }
      return whole;
    },
    async tools(model) {
      const asked: unknown[] = [];
      const first = await responses.create({ model, input: toolQuestion, tools });
      const results = first.output.flatMap((item) => {
        if (item.type !== 'function_call') return [];
        asked.push(JSON.parse(item.arguments));
        return [{ type: 'function_call_output' as const, call_id: item.call_id, output: toolResult }];
      });
      // The cast: output items are input items, but the SDK's types are not the same.
      const input = [
        { role: 'user', content: toolQuestion },
        ...first.output,
        ...results,
      ] as OpenAI.Responses.ResponseInput;
      return { text: (await responses.create({ model, input, tools })).output_text, asked };
    },
    schema: async (model) => (await responses.parse({ model, input: question, text })).output_parsed,
    async streamedSchema(model) {
      const stream = responses.stream({ model, input: question, text });
      return (await stream.finalResponse()).output_parsed;
    },
  };
}
