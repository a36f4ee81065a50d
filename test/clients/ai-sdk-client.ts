import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, type LanguageModel, Output, streamText, type ToolSet } from 'ai';
import { citySchema, labelSchema } from './client-gateway.ts';
import {
  type ClientUnderTest,
  type Connection,
  question,
  toolName,
  toolQuestion,
  toolResult,
} from './client-under-test.ts';

const output = Output.object({ schema: jsonSchema<{ label: string }>(labelSchema) });
/** What a stream failed with comes to `onError`, and the result stays silent about it. */
const thrown = async <Value>(start: (onError: (event: { error: unknown }) => void) => PromiseLike<Value>) => {
  const errors: unknown[] = [];
  const value = await start(({ error }) => void errors.push(error)).then(
    (result) => result,
    (error: unknown) => void errors.push(error),
  );
  if (errors.length > 0) throw errors[0];
  return value as Value;
};

export const aiSdk = (connection: Connection): ClientUnderTest =>
  clientOf(createOpenAICompatible({ name: 'gw', supportsStructuredOutputs: true, ...connection }));

/** Speaks Responses. */
export const aiSdkOpenai = (connection: Connection): ClientUnderTest => clientOf(createOpenAI(connection));

function clientOf(modelOf: (id: string) => LanguageModel): ClientUnderTest {
  return {
    async answer(model) {
      const { text, usage } = await generateText({ model: modelOf(model), prompt: question });
      return { text, cost: usage.raw?.cost };
    },
    stream: (model) => thrown((onError) => streamText({ model: modelOf(model), prompt: question, onError }).text),
    async tools(model) {
      const asked: unknown[] = [];
      const execute = async (input: unknown) => {
        asked.push(input);
        return toolResult;
      };
      const tools = { [toolName]: { inputSchema: jsonSchema(citySchema), execute } as ToolSet[string] };
      const { text } = await generateText({
        model: modelOf(model),
        prompt: toolQuestion,
        tools,
        stopWhen: isStepCount(2),
      });
      return { text, asked };
    },
    schema: async (model) => (await generateText({ model: modelOf(model), prompt: question, output })).output,
    streamedSchema: (model) =>
      thrown((onError) => streamText({ model: modelOf(model), prompt: question, output, onError }).output),
  };
}
