// No output of a model is lost: items that a stream of Responses brings late, and sentences beside JSON.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { type Api, type FakeAnswer, frames, jsonOf, streamOf } from '../support/provider-answers.ts';
import {
  eventsReply,
  jsonReply,
  type ScriptedProvider,
  type ScriptedReply,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

let provider: ScriptedProvider;
let gateway: Harness;
let reply: ScriptedReply;
beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => sendReply(outgoing, reply));
  const more = { max_output_tokens: 500, supported_params: { tools: true, json_mode: true, json_schema: true } };
  gateway = await startHarness({
    models: {
      late: [{ provider: 'responses', upstream: 'grok-4', more }],
      claude: [{ provider: 'bedrock', upstream: 'anthropic.claude-opus-4-8', more }],
      'messages/older': [{ provider: 'anthropic', upstream: 'claude-sonnet-4-0', more }],
      'messages/newer': [{ provider: 'anthropic', upstream: 'claude-opus-5', more }],
      'converse/older': [{ provider: 'bedrock', upstream: 'anthropic.claude-sonnet-4-20250514-v1:0', more }],
      'converse/newer': [{ provider: 'bedrock', upstream: 'anthropic.claude-opus-5', more }],
      'converse/nova': [{ provider: 'bedrock', upstream: 'amazon.nova-pro-v1:0', more }],
      'responses/gpt': [{ provider: 'responses', upstream: 'gpt-5.4', more }],
      'generate-content/gemini': [{ provider: 'gemini', upstream: 'gemini-3-pro', more }],
    },
    providers: {
      responses: { apis: ['responses'], base_url: provider.url },
      bedrock: { apis: ['converse'], base_url: provider.url },
      anthropic: { apis: ['messages'], base_url: provider.url },
      gemini: { apis: ['generate-content'], base_url: provider.url },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const messages = [{ role: 'user' as const, content: 'Hello' }];
const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const text = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Let me look.', annotations: [] }],
};
const refusalItem = {
  type: 'message',
  id: 'msg_2',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'refusal', refusal: 'But not below.' }],
};
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_0123456789abcdef',
  name: 'look',
  arguments: '{"at":"sky"}',
  status: 'completed',
};
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: null,
};
const output = [thought, text, refusalItem, call];
const response = (more: Json) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'grok-4',
  status: 'in_progress',
  output: [],
  ...more,
});
const createdEvent = { type: 'response.created', sequence_number: 0, response: response({}) };
const completed = {
  type: 'response.completed',
  sequence_number: 99,
  response: response({ status: 'completed', output, usage }),
};
const addedEvent = (item: Json, place: number) => ({
  type: 'response.output_item.added',
  output_index: place,
  item: {
    ...item,
    ...(item.type === 'message' ? { content: [] } : item.type === 'reasoning' ? { summary: [] } : { arguments: '' }),
  },
});
const ended = (item: Json, place: number) => ({ type: 'response.output_item.done', output_index: place, item });
const delta = {
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 1,
  content_index: 0,
  delta: 'Let me look.',
};
const refusalDelta = {
  type: 'response.refusal.delta',
  item_id: 'msg_2',
  output_index: 2,
  content_index: 0,
  delta: 'But not below.',
};
const writtenEvent = {
  type: 'response.function_call_arguments.delta',
  item_id: 'fc_1',
  output_index: 3,
  delta: '{"at":"sky"}',
};

/** Streams by the place at which their items come. */
const streams: Readonly<Record<string, readonly object[]>> = {
  'only in the last event': [createdEvent, completed],
  'only when they are done': [createdEvent, ...output.map(ended), completed],
  'begun and done, without a piece': [
    createdEvent,
    ...output.flatMap((item, place) => [addedEvent(item, place), ended(item, place)]),
    completed,
  ],
  'partly in the last event': [
    createdEvent,
    addedEvent(thought, 0),
    ended(thought, 0),
    addedEvent(text, 1),
    delta,
    ended(text, 1),
    completed,
  ],
  'in pieces': [
    createdEvent,
    addedEvent(thought, 0),
    ended(thought, 0),
    addedEvent(text, 1),
    delta,
    ended(text, 1),
    addedEvent(refusalItem, 2),
    refusalDelta,
    ended(refusalItem, 2),
    addedEvent(call, 3),
    writtenEvent,
    ended(call, 3),
    completed,
  ],
};

/** Returns what a client of each interface reads: text, refusal and call, each once. */
const tellings: Readonly<Record<string, (isStream: boolean) => Promise<readonly unknown[]>>> = {
  async messages(isStream) {
    const client = anthropicOf(gateway).messages;
    const request = { model: 'late', max_tokens: 100, messages };
    const { content, stop_reason } = isStream
      ? await client.stream(request).finalMessage()
      : await client.create(request);
    const texts = content.map((block) => {
      if (block.type === 'text') return block.text;
      return block.type === 'tool_use' ? [block.name, block.input] : JSON.stringify(block).includes('Hm.');
    });
    return [stop_reason, ...texts];
  },
  async 'chat-completions'(isStream) {
    const client = openaiOf(gateway).chat.completions;
    const request = { model: 'late', messages };
    const { choices } = isStream ? await client.stream(request).finalChatCompletion() : await client.create(request);
    const { content, refusal, tool_calls: calls = [] } = choices[0]?.message ?? {};
    const toolInputs = calls.map(
      (one) => one.type === 'function' && [one.function.name, JSON.parse(one.function.arguments)],
    );
    return [choices[0]?.finish_reason, content, refusal, ...toolInputs];
  },
};
const expectedTexts: Readonly<Record<string, readonly unknown[]>> = {
  messages: ['tool_use', true, 'Let me look.', 'But not below.', ['look', { at: 'sky' }]],
  'chat-completions': ['tool_calls', 'Let me look.', 'But not below.', ['look', { at: 'sky' }]],
};

describe.each(Object.keys(tellings))(
  'an answer of Responses reaches a client of %s with thought, text, refusal and call',
  (name) => {
    const tell = tellings[name] ?? (async () => []);

    it.each(Object.entries(streams))('streamed, with its items %s', async (_where, events) => {
      reply = eventsReply(...events);
      expect(await tell(true)).toEqual(expectedTexts[name]);
    });

    it('whole', async () => {
      reply = jsonReply(completed.response);
      expect(await tell(false)).toEqual(expectedTexts[name]);
    });

    it('and is none as a stream without any item, although it says that it is completed', async () => {
      reply = eventsReply(createdEvent, { ...completed, response: { ...completed.response, output: [] } });
      await expect(tell(true)).rejects.toMatchObject({ status: 502 });
    });
  },
);

describe('a Claude on Converse with tools and a schema', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
    additionalProperties: false,
  };
  const tools = [
    { type: 'function' as const, name: 'look', parameters: { type: 'object', properties: {} }, strict: false },
  ];
  const request = {
    model: 'claude',
    input: 'How many?',
    tools,
    text: { format: { type: 'json_schema' as const, name: 'n', schema } },
  };
  const says = (...content: readonly Json[]) => ({
    output: { message: { role: 'assistant', content } },
    stopReason: content.some((block) => 'toolUse' in block) ? 'tool_use' : 'end_turn',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  });
  const question = 'Which of the two do you mean?';

  it.each([
    ['a question', [{ text: question }], [question]],
    ['JSON', [{ text: '{"n": 3}' }], ['{"n": 3}']],
    [
      'a sentence beside a call',
      [{ text: 'I look.' }, { toolUse: { toolUseId: 'tooluse_1', name: 'look', input: {} } }],
      ['I look.', 'look'],
    ],
  ])('hands on %s as it was said, whole and streamed', async (_what, content, texts) => {
    reply = jsonReply(says(...content));
    const whole = await openaiOf(gateway).responses.create(request);
    const wordsOf = ({ output: items }: { readonly output: readonly object[] }) =>
      (items as readonly Json[]).flatMap((item) =>
        item.type === 'message'
          ? ((item.content as Json[])[0]?.text ?? [])
          : item.type === 'function_call'
            ? [item.name]
            : [],
      );
    expect([whole.status, wordsOf(whole)]).toEqual(['completed', texts]);
    const { bytes, contentType } = frames(
      ['messageStart', { role: 'assistant' }],
      ...content.flatMap((block, contentBlockIndex): [string, Json][] =>
        'text' in block
          ? [
              ['contentBlockDelta', { contentBlockIndex, delta: { text: block.text } }],
              ['contentBlockStop', { contentBlockIndex }],
            ]
          : [
              [
                'contentBlockStart',
                { contentBlockIndex, start: { toolUse: { toolUseId: 'tooluse_1', name: 'look' } } },
              ],
              ['contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: '{}' } } }],
              ['contentBlockStop', { contentBlockIndex }],
            ],
      ),
      ['messageStop', { stopReason: says(...content).stopReason }],
      ['metadata', { usage: says().usage }],
    );
    reply = { type: contentType, body: Buffer.concat(bytes) };
    // The SDK's helper rejects prose, so the test reads the events as they come.
    const events: Json[] = [];
    for await (const event of await openaiOf(gateway).responses.create({ ...request, stream: true }))
      events.push({ ...event });
    expect(events.at(-1)?.type).toBe('response.completed');
    expect(wordsOf(events.at(-1)?.response as { output: object[] })).toEqual(texts);
    expect(provider.bodies.at(-1)).toContain('JSON schema');
  });

  it('and prose is no JSON to a client of chat completions, which says so', async () => {
    reply = jsonReply(says({ text: question }));
    const response = await gateway.post({
      model: 'claude',
      messages,
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    });
    expect([response.status, (await response.text()).includes('JSON')]).toEqual([422, true]);
  });
});

describe('a sentence beside a call, if JSON was asked for beside tools', () => {
  const parameters = { type: 'object' as const, properties: { at: { type: 'string' } } };
  const schema = {
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
    additionalProperties: false,
  };
  const blocks = [{ text: 'I look.' }, { id: 'toolu_01abcdefgh', name: 'look', args: { at: 'sky' } }];
  const whole = (body: Json) => jsonReply(body);
  const replyOf = ({ bytes, contentType }: FakeAnswer) => ({ type: contentType, body: Buffer.concat(bytes) });

  const asks: Readonly<Record<string, (model: string, stream: boolean) => Promise<string>>> = {
    async responses(model, stream) {
      const format = { type: 'json_schema' as const, name: 'n', schema };
      const tool = { type: 'function' as const, name: 'look', parameters, strict: false };
      const body = { model, input: 'How many?', tools: [tool], text: { format }, stream };
      return await (await gateway.postTo('/responses', body)).text();
    },
    async messages(model, stream) {
      const tools = [{ name: 'look', input_schema: parameters }];
      const output_config = { format: { type: 'json_schema', schema } };
      return await (
        await gateway.postTo('/messages', { model, max_tokens: 400, messages, tools, output_config, stream })
      ).text();
    },
    async 'chat-completions'(model, stream) {
      const tools = [{ type: 'function', function: { name: 'look', parameters } }];
      const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } };
      return await (await gateway.post({ model, messages, tools, response_format, stream })).text();
    },
  };

  it.each([
    ['messages', 'messages/older'],
    ['messages', 'messages/newer'],
    ['converse', 'converse/older'],
    ['converse', 'converse/newer'],
    ['converse', 'converse/nova'],
    ['responses', 'responses/gpt'],
    ['generate-content', 'generate-content/gemini'],
  ] as [Api, string][])('of %s (%s) reaches clients of every interface, whole and streamed', async (api, model) => {
    for (const [client, ask] of Object.entries(asks)) {
      // A chat completion with a schema check is not streamed.
      for (const isStream of client === 'chat-completions' ? [false] : [false, true]) {
        reply = isStream ? replyOf(streamOf(api, { blocks })) : whole(jsonOf(api, { blocks }));
        const text = await ask(model, isStream);
        // The first piece of the sentence suffices in a stream.
        const found = [text.includes(isStream ? '"I l' : '"I look."'), text.includes('"look"')];
        expect([client, isStream, ...found]).toEqual([client, isStream, true, true]);
      }
    }
  });
});
