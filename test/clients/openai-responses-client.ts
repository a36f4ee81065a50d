import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { citySchema } from './client-gateway.ts';
import {
  type ClientConnection,
  type ClientUnderTest,
  question,
  type Tokens,
  toolName,
  toolQuestion,
  toolResult,
} from './client-under-test.ts';

const text = { format: zodTextFormat(z.object({ label: z.string() }), 'label') };
const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: toolName, description: 'Asks about a city', parameters: citySchema, strict: true },
];
const tokensOf = (usage: OpenAI.Responses.ResponseUsage | undefined): Tokens => ({
  input: usage?.input_tokens,
  output: usage?.output_tokens,
});

/** Calls Responses, the interface that OpenAI recommends. */
export function openaiResponses(connection: ClientConnection): ClientUnderTest {
  const { responses } = new OpenAI(connection);
  return {
    async answer(model) {
      const { output_text, usage } = await responses.create({ model, input: question });
      return { text: output_text, cost: (usage as { cost?: number } | undefined)?.cost, tokens: tokensOf(usage) };
    },
    async stream(model, read) {
      let tokens = tokensOf(undefined);
      for await (const event of await responses.create({ model, input: question, stream: true })) {
        if (event.type === 'response.output_text.delta') read(event.delta);
        if (event.type === 'response.completed') tokens = tokensOf(event.response.usage);
      }
      return tokens;
    },
    async tools(model, { stream = false, effort, labelled = false } = {}) {
      const inputs: unknown[] = [];
      const ask = (input: string | OpenAI.Responses.ResponseInput) => {
        const body = {
          model,
          input,
          tools,
          ...(effort === undefined ? {} : { reasoning: { effort } }),
          ...(labelled ? { text } : {}),
        };
        return stream ? responses.stream(body).finalResponse() : responses.create(body);
      };
      const first = await ask(toolQuestion);
      const results = first.output.flatMap((item) => {
        if (item.type !== 'function_call') return [];
        inputs.push(JSON.parse(item.arguments));
        return [{ type: 'function_call_output' as const, call_id: item.call_id, output: toolResult }];
      });
      // The cast is needed because output items are valid input items, but the SDK's types differ.
      const input = [
        { role: 'user', content: toolQuestion },
        ...first.output,
        ...results,
      ] as OpenAI.Responses.ResponseInput;
      return { text: (await ask(input)).output_text, inputs };
    },
    schema: async (model) => (await responses.parse({ model, input: question, text })).output_parsed,
    async streamedSchema(model) {
      const stream = responses.stream({ model, input: question, text });
      return (await stream.finalResponse()).output_parsed;
    },
  };
}
