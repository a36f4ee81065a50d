// The phase that GPT's newer models give with each message comes back to these models from clients of other interfaces,
// and reaches no other model.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import {
  eventsReply,
  jsonReply,
  type ScriptedProvider,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

const thought = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm' }],
  encrypted_content: 'enc',
};
const outputMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  phase: 'commentary',
  content: [{ type: 'output_text', text: 'Let me look.', annotations: [] }],
};
const toolCall = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'f',
  arguments: '{}',
  status: 'completed',
};
const usage = { input_tokens: 9, output_tokens: 9, total_tokens: 18 };
const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-6', status: 'completed' };

let output: readonly Json[] = [];
const eventsOf = (items: readonly Json[]): readonly Json[] => [
  { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
  ...items.flatMap((item, output_index): Json[] => {
    const texts = (item.type === 'message' ? outputMessage.content : []).map(({ text: delta }) => ({
      type: 'response.output_text.delta',
      item_id: item.id,
      output_index,
      content_index: 0,
      delta,
    }));
    const startItem = item.type === 'reasoning' ? { ...item, summary: [] } : { ...item, content: [] };
    return [
      { type: 'response.output_item.added', output_index, item: startItem },
      ...texts,
      { type: 'response.output_item.done', output_index, item },
    ];
  }),
  { type: 'response.completed', response: { ...head, output: items, usage } },
];

let provider: ScriptedProvider;
let gateway: Harness;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  provider = await startScriptedProvider((outgoing, call) => {
    const isStream = /"stream":true/.test(provider.bodies[call] ?? '');
    sendReply(outgoing, isStream ? eventsReply(...eventsOf(output)) : jsonReply({ ...head, output, usage }));
  });
  const more = { supported_params: { tools: true } };
  gateway = await startHarness({
    models: {
      'on/gpt': [{ provider: 'openai', upstream: 'gpt-6-sol', more }],
      'on/other': [{ provider: 'openai', upstream: 'gpt-6-luna', more }],
    },
    providers: { openai: { apis: ['responses'], base_url: provider.url } },
  });
  openai = openaiOf(gateway);
  anthropic = anthropicOf(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const sentMessage = (): Json | undefined =>
  (JSON.parse(provider.bodies.at(-1) ?? '{}').input as Json[]).find(({ role }) => role === 'assistant');

const parameters = { type: 'object' as const, properties: {} };

async function chat(stream: boolean, next = 'on/gpt') {
  const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];
  const body = { model: 'on/gpt', messages, tools };
  let message: Json & { tool_calls?: readonly Json[] };
  if (stream) {
    const expectedMessage: Json = { role: 'assistant', content: '' };
    const details: Json[] = [];
    const calls: Json[] = [];
    for await (const { choices } of await openai.chat.completions.create({ ...body, stream })) {
      const delta = (choices[0]?.delta ?? {}) as unknown as Json & {
        content?: string | null;
        tool_calls?: readonly Json[];
      };
      expectedMessage.content = `${String(expectedMessage.content)}${delta.content ?? ''}`;
      details.push(...((delta.reasoning_details ?? []) as Json[]));
      calls.push(...(delta.tool_calls ?? []).filter(({ id }) => id !== undefined));
    }
    message = {
      ...expectedMessage,
      reasoning_details: details,
      tool_calls: calls.map(({ index: _index, ...call }) => call),
    };
  } else message = (await openai.chat.completions.create(body)).choices[0]?.message as unknown as Json;
  const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'so' };
  const history = [...messages, message, ...((message.tool_calls ?? []).length > 0 ? [result] : []), messages[0]];
  await openai.chat.completions.create({ ...body, model: next, messages: history as typeof messages });
  return message;
}

async function messages(stream: boolean, next = 'on/gpt') {
  const tools = [{ name: 'f', input_schema: parameters }];
  const history: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
  const body = { model: 'on/gpt', max_tokens: 99, messages: history, tools };
  const { content } = stream
    ? await anthropic.messages.stream(body).finalMessage()
    : await anthropic.messages.create(body);
  const call = content.find(({ type }) => type === 'tool_use');
  const result =
    call?.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: call.id, content: 'so' }] : [];
  const user: Anthropic.MessageParam = { role: 'user', content: [...result, { type: 'text', text: 'Go on' }] };
  await anthropic.messages.create({
    ...body,
    model: next,
    messages: [...history, { role: 'assistant', content }, user],
  });
  return content;
}

describe.each([
  ['chat completions', chat],
  ['Messages', messages],
] as const)('a client of %s', (_name, converse) => {
  it.each([false, true])('brings it back with the message that it is about: stream %s', async (stream) => {
    output = [thought, outputMessage, toolCall];
    await converse(stream);
    expect(sentMessage()).toEqual({ role: 'assistant', content: expect.anything(), phase: 'commentary' });
    output = [thought, { ...outputMessage, phase: 'final_answer' }];
    await converse(stream);
    expect(sentMessage()).toMatchObject({ phase: 'final_answer' });
  });

  it.each([false, true])('brings none if there was none, or no thinking beside it: stream %s', async (stream) => {
    for (const items of [
      [thought, { ...outputMessage, phase: null }, toolCall],
      [thought, { ...outputMessage, phase: 'invented' }],
      [outputMessage, toolCall],
    ]) {
      output = items;
      await converse(stream);
      expect([sentMessage()?.role, sentMessage()?.phase]).toEqual(['assistant', undefined]);
    }
  });

  it('brings it to no other model', async () => {
    output = [thought, outputMessage, toolCall];
    await converse(false, 'on/other');
    expect([sentMessage()?.role, sentMessage()?.phase]).toEqual(['assistant', undefined]);
  });
});

it('a client of Messages meets no block for it: thinking, the text, the call', async () => {
  output = [thought, outputMessage, toolCall];
  for (const stream of [false, true])
    expect((await messages(stream)).map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
  output = [outputMessage];
  for (const stream of [false, true]) expect((await messages(stream)).map(({ type }) => type)).toEqual(['text']);
});
