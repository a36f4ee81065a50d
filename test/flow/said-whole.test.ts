// Nothing that a model says disappears: items that a stream of Responses brings late, and sentences beside JSON.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { frames } from '../support/provider-answers.ts';
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
let answered: ScriptedReply;
beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => sendReply(outgoing, answered));
  const more = { max_output_tokens: 500, supported_params: { tools: true, json_mode: true, json_schema: true } };
  gateway = await startHarness({
    models: {
      late: [{ provider: 'responses', upstream: 'grok-4', more }],
      claude: [{ provider: 'bedrock', upstream: 'anthropic.claude-opus-4-8', more }],
    },
    providers: {
      responses: { apis: ['responses'], base_url: provider.url },
      bedrock: { apis: ['converse'], base_url: provider.url },
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
const output = [thought, text, call];
const response = (more: Json) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'grok-4',
  status: 'in_progress',
  output: [],
  ...more,
});
const begun = { type: 'response.created', sequence_number: 0, response: response({}) };
const completed = {
  type: 'response.completed',
  sequence_number: 99,
  response: response({ status: 'completed', output, usage }),
};
const added = (item: Json, place: number) => ({
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
const written = {
  type: 'response.function_call_arguments.delta',
  item_id: 'fc_1',
  output_index: 2,
  delta: '{"at":"sky"}',
};

/** By where the items come. */
const streams: Readonly<Record<string, readonly object[]>> = {
  'only in the last event': [begun, completed],
  'only when they are done': [begun, ...output.map(ended), completed],
  'begun and done, without a piece': [
    begun,
    ...output.flatMap((item, place) => [added(item, place), ended(item, place)]),
    completed,
  ],
  'partly in the last event': [
    begun,
    added(thought, 0),
    ended(thought, 0),
    added(text, 1),
    delta,
    ended(text, 1),
    completed,
  ],
  'in pieces': [
    begun,
    added(thought, 0),
    ended(thought, 0),
    added(text, 1),
    delta,
    ended(text, 1),
    added(call, 2),
    written,
    ended(call, 2),
    completed,
  ],
};

describe('a stream of Responses with its items', () => {
  it.each(Object.entries(streams))(
    '%s: says all of them once, to Messages and chat completions',
    async (_where, events) => {
      answered = eventsReply(...events);
      const message = await anthropicOf(gateway)
        .messages.stream({ model: 'late', max_tokens: 100, messages })
        .finalMessage();
      expect(message.content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')).toMatchObject([
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', name: 'look', input: { at: 'sky' } },
      ]);
      expect([message.stop_reason, JSON.stringify(message.content).includes('Hm.')]).toEqual(['tool_use', true]);
      const stream = openaiOf(gateway).chat.completions.stream({ model: 'late', messages });
      const { choices } = await stream.finalChatCompletion();
      expect(choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: { content: 'Let me look.', tool_calls: [{ function: { name: 'look', arguments: '{"at":"sky"}' } }] },
      });
    },
  );
});

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
  const asked = {
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
  ])('hands on %s as it was said, whole and streamed', async (_what, content, said) => {
    answered = jsonReply(says(...content));
    const whole = await openaiOf(gateway).responses.create(asked);
    const wordsOf = ({ output: items }: { readonly output: readonly object[] }) =>
      (items as readonly Json[]).flatMap((item) =>
        item.type === 'message'
          ? ((item.content as Json[])[0]?.text ?? [])
          : item.type === 'function_call'
            ? [item.name]
            : [],
      );
    expect([whole.status, wordsOf(whole)]).toEqual(['completed', said]);
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
    answered = { type: contentType, body: Buffer.concat(bytes) };
    // The helper of the SDK refuses prose: events are read as they come.
    const events: Json[] = [];
    for await (const event of await openaiOf(gateway).responses.create({ ...asked, stream: true }))
      events.push({ ...event });
    expect(events.at(-1)?.type).toBe('response.completed');
    expect(wordsOf(events.at(-1)?.response as { output: object[] })).toEqual(said);
    expect(provider.bodies.at(-1)).toContain('JSON schema');
  });

  it('and prose is no JSON to a client of chat completions, which says so', async () => {
    answered = jsonReply(says({ text: question }));
    const response = await gateway.post({
      model: 'claude',
      messages,
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    });
    expect([response.status, (await response.text()).includes('JSON')]).toEqual([422, true]);
  });
});
