import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  defaultSettingsMiddleware,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  Output,
  streamText,
  type ToolSet,
  wrapLanguageModel,
} from 'ai';
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

const output = Output.object({ schema: jsonSchema<{ label: string }>(labelSchema) });
/** Returns the error of a stream: it comes to `onError`, and the result does not report it. */
const errorOf = async <Value>(start: (onError: (event: { error: unknown }) => void) => PromiseLike<Value>) => {
  const errors: unknown[] = [];
  const value = await start(({ error }) => void errors.push(error)).then(
    (result) => result,
    (error: unknown) => void errors.push(error),
  );
  if (errors.length > 0) throw errors[0];
  return value as Value;
};

export const aiSdk = (connection: ClientConnection): ClientUnderTest =>
  clientOf(createOpenAICompatible({ name: 'gw', supportsStructuredOutputs: true, includeUsage: true, ...connection }));

/** Calls Responses. By default it takes every answer for a stored one, and sends back references to it. */
export function aiSdkOpenai(connection: ClientConnection): ClientUnderTest {
  const openai = createOpenAI(connection);
  const middleware = defaultSettingsMiddleware({ settings: { providerOptions: { openai: { store: false } } } });
  return clientOf((id) => wrapLanguageModel({ model: openai(id), middleware }));
}

const tokensOf = ({ inputTokens: input, outputTokens }: LanguageModelUsage): Tokens => ({
  input,
  output: outputTokens,
});

function clientOf(modelOf: (id: string) => LanguageModel): ClientUnderTest {
  return {
    async answer(model) {
      const { text, usage } = await generateText({ model: modelOf(model), prompt: question });
      return { text, cost: usage.raw?.cost, tokens: tokensOf(usage) };
    },
    stream: (model, read) =>
      errorOf(async (onError) => {
        const { textStream, usage } = streamText({ model: modelOf(model), prompt: question, onError });
        for await (const text of textStream) read(text);
        return tokensOf(await usage);
      }),
    async tools(model, { stream = false, effort, labelled = false } = {}) {
      const inputs: unknown[] = [];
      const execute = async (input: unknown) => {
        inputs.push(input);
        return toolResult;
      };
      const options = {
        model: modelOf(model),
        prompt: toolQuestion,
        tools: { [toolName]: { inputSchema: jsonSchema(citySchema), execute } as ToolSet[string] },
        stopWhen: isStepCount(2),
        ...(effort === undefined ? {} : { reasoning: effort }),
        ...(labelled ? { output } : {}),
      };
      const text = stream
        ? await errorOf((onError) => streamText({ ...options, onError }).text)
        : (await generateText(options)).text;
      return { text, inputs };
    },
    schema: async (model) => (await generateText({ model: modelOf(model), prompt: question, output })).output,
    streamedSchema: (model) =>
      errorOf((onError) => streamText({ model: modelOf(model), prompt: question, output, onError }).output),
  };
}
