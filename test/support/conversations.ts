// Conversations of the official SDKs with a gateway, one for each client interface. Each stores the messages that its
// SDK returns, in the SDK's own format, and sends them again.
import type Anthropic from '@anthropic-ai/sdk';
import {
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';
import type { Content, Part } from '@google/genai';
import type OpenAI from 'openai';
import { expect } from '#jest';
import { dataLines, type Harness } from './harness.ts';
import { anthropicOf, bedrockOf, googleOf, openaiOf } from './official-clients.ts';
import { readChunks } from './read-chunks.ts';

/** The tool that models call first. */
export const toolName = 'get_weather';

export interface Conversation {
  readonly say: (text: string) => void;
  /** Resolves with the number of calls that the model makes. */
  readonly ask: (model: string, stream: boolean) => Promise<number>;
  readonly answerCalls: (text: string) => void;
}

const parameters = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const bound = 4_000;

function chatConversation(gateway: Harness): Conversation {
  // biome-ignore lint/suspicious/noExplicitAny: messages go back as they came.
  const messages: any[] = [];
  const tools = [toolName, 'get_time'].map((name) => ({ type: 'function', function: { name, parameters } }));
  return {
    say: (content) => messages.push({ role: 'user', content }),
    async ask(model, stream) {
      const request = { model, messages, tools, stream, max_tokens: bound, reasoning: { effort: 'medium' } };
      const response = await gateway.post(request);
      const text = await response.text();
      expect([response.status, text]).toMatchObject([200, {}]);
      const message = stream ? readChunks(dataLines(text)).message : JSON.parse(text).choices[0].message;
      messages.push(message);
      return message.tool_calls?.length ?? 0;
    },
    answerCalls(content) {
      for (const { id } of messages.at(-1).tool_calls) messages.push({ role: 'tool', tool_call_id: id, content });
    },
  };
}

function messagesConversation(gateway: Harness): Conversation {
  const anthropic = anthropicOf(gateway);
  const messages: Anthropic.MessageParam[] = [];
  // Anthropic accepts longer names than all others.
  const long = 'mcp__a_server_with_quite_a_long_name__and_a_tool_of_it_that_has_a_longer_one';
  const tools = [toolName, long].map((name) => ({ name, input_schema: parameters }));
  let last: readonly Anthropic.ContentBlock[] = [];
  return {
    say: (content) => messages.push({ role: 'user', content }),
    async ask(model, stream) {
      const thinking = { type: 'enabled' as const, budget_tokens: 2_048 };
      const request = { model, messages, tools, thinking, max_tokens: bound };
      const { content } = stream
        ? await anthropic.messages.stream(request).finalMessage()
        : await anthropic.messages.create(request);
      last = content;
      messages.push({ role: 'assistant', content });
      const calledTools = content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
      expect([toolName, long]).toEqual(expect.arrayContaining(calledTools));
      return calledTools.length;
    },
    answerCalls(text) {
      const calls = last.filter((block) => block.type === 'tool_use');
      const content = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: text }));
      messages.push({ role: 'user', content });
    },
  };
}

function responsesConversation(gateway: Harness): Conversation {
  const openai = openaiOf(gateway, '/openai/v1');
  const input: OpenAI.Responses.ResponseInput = [];
  const plain = { type: 'function' as const, name: toolName, parameters, strict: false };
  // A provider of Responses other than OpenAI calls only the other tool.
  const inner = { ...plain, name: 'a_tool_that_has_a_long_name' };
  const files = {
    type: 'namespace' as const,
    name: 'mcp__a_server_with_quite_a_long_name',
    description: '',
    tools: [inner],
  };
  const tools: OpenAI.Responses.Tool[] = [plain, files];
  let last: readonly OpenAI.Responses.ResponseOutputItem[] = [];
  return {
    say: (content) => input.push({ role: 'user', content }),
    async ask(model, stream) {
      const request = {
        ...{ model, input, tools, store: false, max_output_tokens: bound },
        include: ['reasoning.encrypted_content' as const],
        reasoning: { effort: 'medium' as const, summary: 'auto' as const },
      };
      const { output } = stream
        ? await openai.responses.stream(request).finalResponse()
        : await openai.responses.create(request);
      last = output;
      for (const item of output) {
        const { parsed_arguments: _parsed, ...sentItem } = item as typeof item & { parsed_arguments?: unknown };
        input.push(sentItem as OpenAI.Responses.ResponseInputItem);
      }
      const calledTools = output.flatMap((item) =>
        item.type === 'function_call' ? [[item.namespace, item.name]] : [],
      );
      expect([
        [undefined, toolName],
        [files.name, inner.name],
      ]).toEqual(expect.arrayContaining(calledTools));
      return calledTools.length;
    },
    answerCalls(output) {
      for (const item of last) {
        if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output });
      }
    },
  };
}

/** Returns the content that the events contain, as a client assembles it. */
function contentOf(events: readonly ConverseStreamOutput[]): ContentBlock[] {
  const blocks = new Map<number, { text: string; thinking: string; signature: string; input: string; call?: object }>();
  for (const { contentBlockStart, contentBlockDelta } of events) {
    const { contentBlockIndex = 0 } = contentBlockStart ?? contentBlockDelta ?? {};
    if (contentBlockStart === undefined && contentBlockDelta === undefined) continue;
    const block = blocks.get(contentBlockIndex) ?? { text: '', thinking: '', signature: '', input: '' };
    blocks.set(contentBlockIndex, block);
    const { text, reasoningContent, toolUse } = contentBlockDelta?.delta ?? {};
    block.text += text ?? '';
    block.thinking += reasoningContent?.text ?? '';
    block.signature += reasoningContent?.signature ?? '';
    block.input += toolUse?.input ?? '';
    if (reasoningContent?.redactedContent !== undefined) Object.assign(block, { redacted: reasoningContent });
    if (contentBlockStart?.start?.toolUse !== undefined) block.call = contentBlockStart.start.toolUse;
  }
  return [...blocks.values()].map(({ text, thinking, signature, input, call, ...more }) => {
    if ('redacted' in more) return { reasoningContent: more.redacted } as ContentBlock;
    if (call !== undefined) return { toolUse: { ...call, input: JSON.parse(input || '{}') } } as ContentBlock;
    return signature === '' ? { text } : { reasoningContent: { reasoningText: { text: thinking, signature } } };
  });
}

function converseConversation(gateway: Harness): Conversation {
  const bedrock = bedrockOf(gateway);
  const messages: Message[] = [];
  const tools = [toolName, 'get_time'].map((name) => ({ toolSpec: { name, inputSchema: { json: parameters } } }));
  let last: readonly ContentBlock[] = [];
  return {
    say: (text) => messages.push({ role: 'user', content: [{ text }] }),
    async ask(modelId, stream) {
      const thinking = { type: 'enabled', budget_tokens: 2_048 };
      const request = {
        ...{ modelId, messages, toolConfig: { tools }, inferenceConfig: { maxTokens: bound } },
        additionalModelRequestFields: { thinking },
      };
      if (stream) {
        const events: ConverseStreamOutput[] = [];
        const answer = await bedrock.send(new ConverseStreamCommand(request));
        for await (const event of answer.stream ?? []) events.push(event);
        last = contentOf(events);
      } else last = (await bedrock.send(new ConverseCommand(request))).output?.message?.content ?? [];
      messages.push({ role: 'assistant', content: [...last] });
      return last.filter(({ toolUse }) => toolUse !== undefined).length;
    },
    answerCalls(text) {
      const calls = last.flatMap(({ toolUse }) => toolUse ?? []);
      const content = calls.map(({ toolUseId }) => ({ toolResult: { toolUseId, content: [{ text }] } }));
      messages.push({ role: 'user', content });
    },
  };
}

function googleConversation(gateway: Harness): Conversation {
  const google = googleOf(gateway);
  const functionDeclarations = [toolName, 'get_time'].map((name) => ({ name, parametersJsonSchema: parameters }));
  const config = {
    ...{ tools: [{ functionDeclarations }], maxOutputTokens: bound },
    thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 },
  };
  // A chat belongs to one model: a chat with another model begins with its history.
  let history: Content[] = [];
  let message: Part[] = [];
  let calls: readonly NonNullable<Part['functionCall']>[] = [];
  return {
    say: (text) => void message.push({ text }),
    async ask(model, stream) {
      // The SDK for Python decodes signatures to bytes, and writes them again in the other alphabet.
      const signatures = history.flatMap(({ parts = [] }) =>
        parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []),
      );
      for (const signature of signatures) expect(signature).toMatch(/^[A-Za-z0-9+/_-]*={0,2}$/);
      const chat = google.chats.create({ model, config, history });
      if (stream) for await (const _chunk of await chat.sendMessageStream({ message }));
      else await chat.sendMessage({ message });
      const next = chat.getHistory(true);
      const answer = next.slice(history.length + 1);
      expect(answer.length).toBeGreaterThan(0);
      history = next;
      message = [];
      calls = answer.flatMap(({ parts = [] }) => parts.flatMap(({ functionCall }) => functionCall ?? []));
      return calls.length;
    },
    answerCalls(output) {
      message = calls.map(({ id, name }) => ({
        functionResponse: { ...(id && { id }), name: String(name), response: { output } },
      }));
    },
  };
}

const conversations = {
  'chat-completions': chatConversation,
  messages: messagesConversation,
  responses: responsesConversation,
  converse: converseConversation,
  'generate-content': googleConversation,
} as const;
export type ConversingInterface = keyof typeof conversations;
export const conversingInterfaces = Object.keys(conversations) as readonly ConversingInterface[];

export const startConversation = (client: ConversingInterface, gateway: Harness): Conversation =>
  conversations[client](gateway);
