import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
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

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
const response_format = zodResponseFormat(z.object({ label: z.string() }), 'label');
const tokensOf = (usage: OpenAI.CompletionUsage | null | undefined): Tokens => ({
  input: usage?.prompt_tokens,
  output: usage?.completion_tokens,
});

const weather = {
  name: toolName,
  description: 'Asks about a city',
  parameters: { ...citySchema, required: [...citySchema.required] },
};

export function openaiClient(connection: ClientConnection): ClientUnderTest {
  const { completions } = new OpenAI(connection).chat;
  return {
    async answer(model) {
      const { choices, usage } = await completions.create({ model, messages });
      const { cost } = (usage ?? {}) as { cost?: number };
      return { text: choices[0]?.message.content ?? '', cost, tokens: tokensOf(usage) };
    },
    async stream(model, read) {
      const stream_options = { include_usage: true };
      let tokens = tokensOf(undefined);
      for await (const chunk of await completions.create({ model, messages, stream: true, stream_options })) {
        if (chunk.usage) tokens = tokensOf(chunk.usage);
        const text = chunk.choices[0]?.delta.content;
        if (text) read(text);
      }
      return tokens;
    },
    async tools(model, { stream = false, effort, labelled = false } = {}) {
      const inputs: unknown[] = [];
      const tool = {
        type: 'function' as const,
        function: {
          ...weather,
          parse: (text: string): object => JSON.parse(text),
          function: (args: object) => {
            inputs.push(args);
            return toolResult;
          },
        },
      };
      const body = {
        model,
        messages: [{ role: 'user' as const, content: toolQuestion }],
        tools: [tool],
        ...(effort === undefined ? {} : { reasoning_effort: effort }),
        ...(labelled ? { response_format } : {}),
      };
      const runner = stream ? completions.runTools({ ...body, stream }) : completions.runTools(body);
      return { text: (await runner.finalContent()) ?? '', inputs };
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

/** Calls tools without the SDK's loop: the model's message is sent back as it came. */
export function openaiByHand(connection: ClientConnection): Pick<ClientUnderTest, 'tools'> {
  const { completions } = new OpenAI(connection).chat;
  return {
    async tools(model, { stream = false, effort } = {}) {
      const ask = async (history: OpenAI.ChatCompletionMessageParam[]) => {
        const body = {
          model,
          messages: history,
          tools: [{ type: 'function' as const, function: weather }],
          ...(effort === undefined ? {} : { reasoning_effort: effort }),
        };
        const { choices } = await (stream ? completions.stream(body).finalChatCompletion() : completions.create(body));
        return choices[0]?.message as OpenAI.ChatCompletionMessage;
      };
      const asking: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: toolQuestion }];
      const first = await ask(asking);
      const calls = first.tool_calls?.filter((call) => call.type === 'function') ?? [];
      const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: toolResult }));
      const { content } = await ask([...asking, first, ...results]);
      return {
        text: content ?? '',
        inputs: calls.map(({ function: toolFunction }) => JSON.parse(toolFunction.arguments)),
      };
    },
  };
}
