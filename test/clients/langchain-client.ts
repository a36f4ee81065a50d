import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { citySchema, labelSchema } from './client-gateway.ts';
import {
  type ClientUnderTest,
  type Connection,
  question,
  toolName,
  toolQuestion,
  toolResult,
} from './client-under-test.ts';

const tools = [
  { type: 'function' as const, function: { name: toolName, description: 'Asks about a city', parameters: citySchema } },
];

export function langchain({ apiKey, ...configuration }: Connection, fields: ChatOpenAIFields = {}): ClientUnderTest {
  const chat = (model: string) => new ChatOpenAI({ model, apiKey, configuration, ...fields });
  const labelled = (model: string) =>
    chat(model).withStructuredOutput<{ label: string }>(labelSchema, { name: 'label', method: 'jsonSchema' });
  return {
    async answer(model) {
      const { content, response_metadata } = await chat(model).invoke(question);
      return { text: String(content), cost: (response_metadata.usage as { cost?: number } | undefined)?.cost };
    },
    async stream(model) {
      let whole = new AIMessageChunk('');
      for await (const chunk of await chat(model).stream(question)) whole = whole.concat(chunk);
      return String(whole.content);
    },
    async tools(model) {
      const bound = chat(model).bindTools(tools);
      const first = await bound.invoke([new HumanMessage(toolQuestion)]);
      const calls = first.tool_calls ?? [];
      const results = calls.map(({ id = '' }) => new ToolMessage({ tool_call_id: id, content: toolResult }));
      const last = await bound.invoke([new HumanMessage(toolQuestion), first, ...results]);
      return { text: String(last.content), asked: calls.map(({ args }) => args) };
    },
    schema: (model) => labelled(model).invoke(question),
    async streamedSchema(model) {
      let last: unknown;
      for await (const part of await labelled(model).stream(question)) last = part;
      return last;
    },
  };
}
