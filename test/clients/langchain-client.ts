import { AIMessageChunk, HumanMessage, ToolMessage, type UsageMetadata } from '@langchain/core/messages';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { citySchema, labelSchema } from './client-gateway.ts';
import {
  type ClientConnection,
  type ClientUnderTest,
  question,
  type Tokens,
  toolName,
  toolQuestion,
  toolResult,
} from './client-under-test.ts';

const tools = [
  { type: 'function' as const, function: { name: toolName, description: 'Asks about a city', parameters: citySchema } },
];

const tokensOf = (usage: UsageMetadata | undefined): Tokens => ({
  input: usage?.input_tokens,
  output: usage?.output_tokens,
});

const response_format = {
  type: 'json_schema' as const,
  json_schema: { name: 'label', schema: labelSchema, strict: true },
};

async function wholeOf(stream: AsyncIterable<AIMessageChunk>, read: (text: string) => void = () => {}) {
  let whole = new AIMessageChunk('');
  for await (const chunk of stream) {
    if (chunk.content !== '') read(String(chunk.content));
    whole = whole.concat(chunk);
  }
  return whole;
}

export function langchain(
  { apiKey, ...configuration }: ClientConnection,
  fields: ChatOpenAIFields = {},
): ClientUnderTest {
  const chat = (model: string, more: ChatOpenAIFields = {}) =>
    new ChatOpenAI({ model, apiKey, configuration, ...fields, ...more });
  const labelled = (model: string) =>
    chat(model).withStructuredOutput<{ label: string }>(labelSchema, { name: 'label', method: 'jsonSchema' });
  return {
    async answer(model) {
      const { content, response_metadata, usage_metadata: usage } = await chat(model).invoke(question);
      const { cost } = (response_metadata.usage ?? {}) as { cost?: number };
      return { text: String(content), cost, tokens: tokensOf(usage) };
    },
    async stream(model, read) {
      return tokensOf((await wholeOf(await chat(model).stream(question), read)).usage_metadata);
    },
    async tools(model, { stream = false, effort, labelled = false } = {}) {
      const asking = chat(model, effort === undefined ? {} : { modelKwargs: { reasoning_effort: effort } });
      const bound = asking.bindTools(tools, labelled ? { response_format } : {});
      const ask = async (messages: (HumanMessage | AIMessageChunk | ToolMessage)[]) =>
        stream ? wholeOf(await bound.stream(messages)) : bound.invoke(messages);
      const first = await ask([new HumanMessage(toolQuestion)]);
      const calls = first.tool_calls ?? [];
      const results = calls.map(({ id = '' }) => new ToolMessage({ tool_call_id: id, content: toolResult }));
      const last = await ask([new HumanMessage(toolQuestion), first, ...results]);
      return { text: String(last.content), inputs: calls.map(({ args }) => args) };
    },
    schema: (model) => labelled(model).invoke(question),
    async streamedSchema(model) {
      let last: unknown;
      for await (const part of await labelled(model).stream(question)) last = part;
      return last;
    },
  };
}
