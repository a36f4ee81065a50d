// A conversation with tools and thinking goes on with a model of another format, in the middle of a turn and back again, for clients
// of every interface. The simulated providers refuse what the real ones refuse: thinking that is not theirs, calls without a
// signature, ids and names that they do not take, calls without results and results without calls.
import type Anthropic from '@anthropic-ai/sdk';
import {
  type BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { encryptedBy, redactedReasoning, signatureOf } from '../../infra/local/simulator/signature.ts';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, bedrockOf, openaiOf } from '../support/official-clients.ts';
import { readChunks } from '../support/read-chunks.ts';
import { type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const formats = ['chat-completions', 'messages', 'converse', 'generate-content', 'responses'] as const;
type Format = (typeof formats)[number];
/** Each thinks, and is strict about what comes back of it. */
const upstreams: Readonly<Record<Format, string>> = {
  'chat-completions': 'gpt-4.1/reasoning',
  messages: 'claude-sonnet-4-5/redacted-reasoning',
  converse: 'anthropic.claude-haiku-4-5-v1/redacted-reasoning',
  'generate-content': 'gemini-3-pro/reasoning',
  responses: 'gpt-5.4/reasoning',
};
const tool = 'get_weather';
const thought = 'The user wants an answer. I should give a short one.';
/** Signatures that a model wants back. Of Gemini the calls are signed. */
const ownSigns = (format: Format): readonly string[] =>
  ({
    'chat-completions': [thought],
    messages: [signatureOf(thought), redactedReasoning],
    converse: [signatureOf(thought), redactedReasoning],
    'generate-content': [signatureOf(tool)],
    responses: [encryptedBy(upstreams.responses, thought)],
  })[format];

/** A server that counts its calls anew in each answer, in characters that others refuse. */
const countedCall = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'kimi',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `functions.${tool}:0`, type: 'function', function: { name: tool, arguments: '{"city":"Rome"}' } },
        ],
      },
    },
  ],
});

let gateway: Harness;
let counting: ScriptedProvider;
let anthropic: Anthropic;
let openai: OpenAI;
let bedrock: BedrockRuntimeClient;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true } };
  counting = await startScriptedProvider((outgoing) => sendJson(outgoing, countedCall));
  gateway = await startHarness({
    models: Object.fromEntries([
      ...formats.map((format) => [`on/${format}`, [{ provider: format, upstream: upstreams[format], more }]] as const),
      ['on/counting', [{ provider: 'counting', upstream: 'kimi', more }]],
    ]),
    providers: {
      ...Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
      counting: { apis: ['chat-completions'], base_url: counting.url },
    },
  });
  anthropic = anthropicOf(gateway);
  openai = openaiOf(gateway, '/openai/v1');
  bedrock = bedrockOf(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await counting.stop();
});

/** A client that keeps its conversation in its own form, as what its SDK puts together. */
interface Talk {
  readonly say: (text: string) => void;
  /** Resolves with the number of calls that the model makes. */
  readonly ask: (model: string, stream: boolean) => Promise<number>;
  readonly answerCalls: (text: string) => void;
}

const parameters = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const bound = 4_000;

function chatTalk(): Talk {
  // biome-ignore lint/suspicious/noExplicitAny: messages go back as they came.
  const messages: any[] = [];
  const tools = [tool, 'get_time'].map((name) => ({ type: 'function', function: { name, parameters } }));
  return {
    say: (content) => messages.push({ role: 'user', content }),
    async ask(model, stream) {
      const asked = { model, messages, tools, stream, max_tokens: bound, reasoning: { effort: 'medium' } };
      const response = await gateway.post(asked);
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

function messagesTalk(): Talk {
  const messages: Anthropic.MessageParam[] = [];
  // Anthropic takes longer names than any other.
  const long = 'mcp__a_server_with_quite_a_long_name__and_a_tool_of_it_that_has_a_longer_one';
  const tools = [tool, long].map((name) => ({ name, input_schema: parameters }));
  let last: readonly Anthropic.ContentBlock[] = [];
  return {
    say: (content) => messages.push({ role: 'user', content }),
    async ask(model, stream) {
      const thinking = { type: 'enabled' as const, budget_tokens: 2_048 };
      const asked = { model, messages, tools, thinking, max_tokens: bound };
      const { content } = stream
        ? await anthropic.messages.stream(asked).finalMessage()
        : await anthropic.messages.create(asked);
      last = content;
      messages.push({ role: 'assistant', content });
      const called = content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
      expect([tool, long]).toEqual(expect.arrayContaining(called));
      return called.length;
    },
    answerCalls(text) {
      const calls = last.filter((block) => block.type === 'tool_use');
      const content = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: text }));
      messages.push({ role: 'user', content });
    },
  };
}

function responsesTalk(): Talk {
  const input: OpenAI.Responses.ResponseInput = [];
  const plain = { type: 'function' as const, name: tool, parameters, strict: false };
  // A provider of Responses that is none of OpenAI's calls the other one alone.
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
      const asked = {
        ...{ model, input, tools, store: false, max_output_tokens: bound },
        include: ['reasoning.encrypted_content' as const],
        reasoning: { effort: 'medium' as const, summary: 'auto' as const },
      };
      const { output } = stream
        ? await openai.responses.stream(asked).finalResponse()
        : await openai.responses.create(asked);
      last = output;
      for (const item of output) {
        const { parsed_arguments: _parsed, ...sent } = item as typeof item & { parsed_arguments?: unknown };
        input.push(sent as OpenAI.Responses.ResponseInputItem);
      }
      const called = output.flatMap((item) => (item.type === 'function_call' ? [[item.namespace, item.name]] : []));
      expect([
        [undefined, tool],
        [files.name, inner.name],
      ]).toEqual(expect.arrayContaining(called));
      return called.length;
    },
    answerCalls(output) {
      for (const item of last) {
        if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output });
      }
    },
  };
}

/** The content that the events make, as a client puts it together. */
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

function converseTalk(): Talk {
  const messages: Message[] = [];
  const tools = [tool, 'get_time'].map((name) => ({ toolSpec: { name, inputSchema: { json: parameters } } }));
  let last: readonly ContentBlock[] = [];
  return {
    say: (text) => messages.push({ role: 'user', content: [{ text }] }),
    async ask(modelId, stream) {
      const thinking = { type: 'enabled', budget_tokens: 2_048 };
      const asked = {
        ...{ modelId, messages, toolConfig: { tools }, inferenceConfig: { maxTokens: bound } },
        additionalModelRequestFields: { thinking },
      };
      if (stream) {
        const events: ConverseStreamOutput[] = [];
        const answer = await bedrock.send(new ConverseStreamCommand(asked));
        for await (const event of answer.stream ?? []) events.push(event);
        last = contentOf(events);
      } else last = (await bedrock.send(new ConverseCommand(asked))).output?.message?.content ?? [];
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

const talks = {
  'chat-completions': chatTalk,
  messages: messagesTalk,
  responses: responsesTalk,
  converse: converseTalk,
} as const;
type ClientInterface = keyof typeof talks;

/** Any two formats, each as often the first as the second. */
const pairs = formats.flatMap((first, place) =>
  [1, 2].map((distance) => [first, formats[(place + distance) % formats.length] ?? first] as const),
);
/** One signature is good for Claude anywhere; only the other interfaces say which Claude it was. */
const shareClaude = (client: ClientInterface, ...both: readonly Format[]): boolean =>
  client === 'chat-completions' && both.every((format) => format === 'messages' || format === 'converse');
/** Such a client has nothing signed of a model that it is relayed to. */
const keepsThinking = (client: ClientInterface, format: Format): boolean =>
  client !== 'chat-completions' || format !== client;

describe.each(Object.keys(talks) as ClientInterface[])('a client of %s', (client) => {
  it.each(pairs)(
    'goes on from %s to %s and from there to the first, with tools and thinking',
    async (first, second) => {
      const talk = talks[client]();
      /** Returns the request as the provider gets it. */
      const ask = async (format: Format, { calls = 0, stream = false }): Promise<string> => {
        gateway.simulator.clear();
        expect(await talk.ask(`on/${format}`, stream)).toBe(calls);
        const asked = gateway.simulator.calls.map((call) => [call.provider, call.format, call.status]);
        expect(asked).toEqual([[format, format, 200]]);
        const sent = gateway.simulator.calls[0]?.bodyText ?? '';
        expect(sent).not.toContain('gw1.');
        return sent;
      };

      talk.say('Call the tools');
      await ask(first, { calls: 2 });
      talk.answerCalls('sunny at first');
      const sent = await ask(second, {});
      expect(sent).toContain('sunny at first');
      for (const sign of shareClaude(client, first, second) ? [] : ownSigns(first)) expect(sent).not.toContain(sign);

      talk.say('Call the tools again');
      await ask(second, { calls: 2, stream: true });
      talk.answerCalls('rainy then');
      const back = await ask(first, { stream: true });
      for (const result of ['sunny at first', 'rainy then']) expect(back).toContain(result);
      for (const sign of keepsThinking(client, first) ? ownSigns(first) : []) expect(back).toContain(sign);

      talk.say('Thank you.');
      const last = await ask(second, {});
      for (const sign of keepsThinking(client, second) ? ownSigns(second) : []) expect(last).toContain(sign);
    },
  );
});

it.each([
  ['messages', 'messages'],
  ['messages', 'converse'],
  ['responses', 'responses'],
  ['responses', 'messages'],
  ['converse', 'converse'],
  ['converse', 'messages'],
] as const)(
  'a client of %s goes on at %s with calls whose server counts them anew in each answer',
  async (client, format) => {
    const talk = talks[client]();
    talk.say('Call the tool');
    for (const result of ['sunny', 'rainy']) {
      expect(await talk.ask('on/counting', false)).toBe(1);
      talk.answerCalls(result);
    }
    gateway.simulator.clear();
    await talk.ask(`on/${format}`, false);
    expect(gateway.simulator.calls.map(({ status }) => status)).toEqual([200]);
    for (const result of ['sunny', 'rainy']) expect(gateway.simulator.calls[0]?.bodyText).toContain(result);
  },
);
