// What official SDKs put together from a translated stream is what the JSON answer says, for every pair of an interface and a format
// that is not its own. (Anthropic's and OpenAI's Responses: any-model.test.ts, any-model-responses.test.ts.)
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { baseUrlOf, citySchema, startClientGateway } from './client-gateway.ts';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startClientGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const aiSdk = {
  '@ai-sdk/anthropic': (model: string) =>
    createAnthropic({ baseURL: baseUrlOf(gateway, '/v1'), apiKey: gateway.key })(model),
  '@ai-sdk/openai': (model: string) =>
    createOpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key }).responses(model),
  '@ai-sdk/openai, chat': (model: string) =>
    createOpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key }).chat(model),
} as const satisfies Record<string, (model: string) => LanguageModel>;
const pairs = [
  ...['responses', 'converse', 'generate-content', 'chat-completions'].map((f) => ['@ai-sdk/anthropic', f] as const),
  ...['messages', 'converse', 'generate-content', 'chat-completions'].map((f) => ['@ai-sdk/openai', f] as const),
  ...['messages', 'responses', 'converse', 'generate-content'].map((f) => ['@ai-sdk/openai, chat', f] as const),
];

const tools = {
  get_weather: tool({ inputSchema: jsonSchema<{ city: string }>(citySchema), execute: async () => 'sunny' }),
  get_time: tool({ inputSchema: jsonSchema<{ city: string }>(citySchema), execute: async () => 'noon' }),
};
const thinking = {
  anthropic: { thinking: { type: 'enabled' as const, budgetTokens: 1_500 } },
  // The package knows the names of OpenAI's models alone. Without `store` it would refer to items by their ids, which the gateway
  // does not keep; chat completions do not keep anything either.
  openai: { forceReasoning: true, reasoningEffort: 'medium', store: false },
};
const questions = [
  ['a text', 'echo', { prompt: 'Hello' }],
  ['a text that was cut', 'echo', { prompt: 'Hello', maxOutputTokens: 3 }],
  [
    'parallel calls, their results and thinking',
    'thinking',
    { prompt: 'Call the tools', tools, providerOptions: thinking },
  ],
] as const;

/** Of each step what a client sees. */
const seen = (
  steps: readonly {
    text: string;
    reasoningText: string | undefined;
    toolCalls: readonly { toolName: string; input: unknown }[];
    finishReason: string;
    usage: { inputTokens: number | undefined; outputTokens: number | undefined };
  }[],
) =>
  steps.map(({ text, reasoningText, toolCalls, finishReason, usage }) => ({
    text,
    reasoningText,
    calls: toolCalls.map(({ toolName, input }) => [toolName, input]),
    finishReason,
    usage: [usage.inputTokens, usage.outputTokens],
  }));

describe.each(pairs)('%s at a model of %s', (client, format) => {
  it.each(questions)('reads %s', async (_what, name, question) => {
    const asked = {
      model: aiSdk[client](`${format}/${name}`),
      maxOutputTokens: 4_000,
      ...question,
      maxRetries: 0,
      stopWhen: stepCountIs(2),
    };
    const whole = seen((await generateText(asked)).steps);
    const streamed = seen(await streamText(asked).steps);
    expect(streamed).toEqual(whole);
    const last = whole.at(-1);
    expect(last?.text.length).toBeGreaterThan(0);
    for (const count of last?.usage ?? []) expect(count).toBeGreaterThan(0);
    const called = whole.flatMap(({ calls }) => calls.map(([toolName]) => toolName));
    expect(called).toEqual('tools' in question ? Object.keys(tools) : []);
    // Plain chat has no word for it at this model, and OpenAI's package none for chat.
    const isShown = name === 'thinking' && format !== 'chat-completions' && client !== '@ai-sdk/openai, chat';
    expect((whole[0]?.reasoningText ?? '').length > 0).toBe(isShown);
    // What the first step has thought comes back with its calls, and no provider refuses it.
    expect(gateway.simulator.calls.map(({ status }) => status)).toEqual(Array(whole.length * 2).fill(200));
  });
});

describe.each(['messages', 'responses', 'converse', 'generate-content'])(
  'a stream of chat completions from a model of %s',
  (format) => {
    const weather = { type: 'function', function: { name: 'get_weather', parameters: citySchema } } as const;
    it.each([
      ['a text', 'echo', { content: 'Hello' }],
      ['a text that was cut', 'echo', { content: 'Hello', max_tokens: 3 }],
      ['thinking and calls', 'thinking', { content: 'Call the tools', tools: [weather], reasoning_effort: 'medium' }],
    ] as const)(
      'is put together by the openai SDK to what JSON says: %s',
      async (_what, name, { content, ...more }) => {
        const client = new OpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key, maxRetries: 0 });
        const question = {
          model: `${format}/${name}`,
          messages: [{ role: 'user' as const, content }],
          max_tokens: 4_000,
          ...more,
        } as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
        const whole = await client.chat.completions.create(question);
        const streaming = { ...question, stream: true as const, stream_options: { include_usage: true } };
        const streamed = await client.chat.completions.stream(streaming).finalChatCompletion();
        const read = ({ choices, usage, model }: OpenAI.Chat.ChatCompletion) => ({
          model,
          choices: choices.map(({ finish_reason: reason, message: { content: text, refusal, tool_calls: calls } }) => ({
            reason,
            text: text || null,
            refusal,
            calls: calls?.map((call) =>
              call.type === 'function' ? [call.function.name, call.function.arguments] : [],
            ),
          })),
          tokens: [usage?.prompt_tokens, usage?.completion_tokens, usage?.total_tokens],
        });
        expect(read(streamed)).toEqual(read(whole));
      },
    );
  },
);
