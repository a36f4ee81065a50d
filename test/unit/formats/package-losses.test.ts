import { describe, expect, it } from '#jest';
import { rawNumber } from '../../../shared/foundation/ids/index.ts';
import { apis, eventStream, jsonOf, streamOf } from '../../support/provider-answers.ts';
import { readChunks } from '../../support/read-chunks.ts';
import {
  ask,
  completionOf,
  failureOf,
  fineAnswer,
  type Json,
  jsonAnswer,
  readTexts,
  type SentRequest,
  sentBody,
} from './fake-send.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into field by field.
type Any = any;

const user = (content: unknown): Json => ({ role: 'user', content });
const tool = (name: string, more: Json = {}): Json => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
  ...more,
});

describe('a model that cannot be made to call a tool', () => {
  const models = [
    ['messages', 'claude-sonnet-5-5'],
    ['messages', 'claude-opus-5-5-20260901'],
    ['messages', 'claude-fable-5-1'],
    ['converse', 'eu.anthropic.claude-opus-5-5-v1:0'],
  ] as const;

  it.each(models)(
    '%s %s: is passed over for a call that has to be made, and asked for any other',
    async (api, model) => {
      const namedTool = { type: 'function', function: { name: 'weather' } };
      const some = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [namedTool] } };
      for (const choice of ['required', namedTool, some]) {
        const request = { tools: [tool('weather')], tool_choice: choice };
        const { outcome, requests } = await ask({ api, model, answer: fineAnswer(api), body: request });
        expect([failureOf(outcome).param, requests]).toEqual(['tool_choice', []]);
      }
      for (const choice of ['auto', 'none', undefined]) {
        const { outcome } = await ask({
          api,
          model,
          answer: fineAnswer(api),
          body: { tools: [tool('weather')], tool_choice: choice },
        });
        expect(outcome.kind).toBe('json');
      }
    },
  );

  const schemaOf = (more: Json): Json => ({ type: 'object', properties: { city: { type: 'string' } }, ...more });
  const asking = (schema: Json): Json => ({
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
  });
  it.each(models)(
    '%s %s: is requested as JSON, and by a schema that leaves something open, with tools and without',
    async (api, model) => {
      for (const [fields, words] of [
        [{ response_format: { type: 'json_object' } }, /answer with one JSON object and nothing else/],
        [asking(schemaOf({ additionalProperties: true })), /JSON.*city/],
      ] as const) {
        for (const tools of [[], [tool('weather')]]) {
          const body = await sentBody(api, { ...fields, tools }, model);
          expect(JSON.stringify(body.system)).toMatch(words);
          expect(JSON.stringify(body)).not.toMatch(/"name":"json"|"any"/);
          expect(body.output_config?.format).toBeUndefined();
        }
      }
    },
  );

  it('messages: is held to a schema that leaves nothing open by the format that it has for one', async () => {
    const body = await sentBody('messages', asking(schemaOf({ additionalProperties: false })), 'claude-opus-5-5');
    expect([body.output_config.format.type, body.tools, body.system]).toEqual(['json_schema', undefined, undefined]);
  });
});

it.each(['messages', 'converse'] as const)(
  "%s: a call of the client's own tool named json is a call, not the answer",
  async (api) => {
    const body = { tools: [tool('json')], response_format: { type: 'json_object' } };
    const blocks = [{ text: 'I look.' }, { id: 'a', name: 'json', args: { city: 'Rome' } }];
    const { outcome, requests } = await ask({ api, body, answer: jsonAnswer(jsonOf(api, { blocks })) });
    const { message, finish_reason: reason } = completionOf(outcome).choices[0];
    expect([message.content, reason]).toEqual(['I look.', 'tool_calls']);
    expect(message.tool_calls[0].function).toEqual({ name: 'json', arguments: '{"city":"Rome"}' });
    expect(JSON.stringify(requests[0]?.body.system)).toContain('answer with one JSON object');
  },
);

it.each([
  ['messages', 'stop_sequences'],
  ['converse', 'stopSequences'],
] as const)('%s: stops that the provider would refuse are left out', async (api, name) => {
  const body = await sentBody(api, { stop: ['END', '', '\n\n'] });
  expect((body.inferenceConfig ?? body)[name]).toEqual(['END']);
  expect((await sentBody('generate-content', { stop: ['END', ''] })).generationConfig.stopSequences).toEqual(['END']);
});

describe.each(apis)('arguments of %s', (api) => {
  // JSON.parse rounds these numbers, and packages refuse an answer with these names.
  const namedText = '{"__proto__":{"a":1},"constructor":{"prototype":{}}}';
  const inputs = [{ n: rawNumber('12345678901234567890.10'), e: rawNumber('1.0e5') }, JSON.parse(namedText)];
  const texts = ['{"n":12345678901234567890.10,"e":1.0e5}', namedText];
  const blocks = inputs.map((args, index) => ({ id: `c${index}`, name: 'weather', args }));

  it('keep their digits and their names, whole, streamed, and in the history', async () => {
    const tools = [tool('weather')];
    const whole = await ask({ api, body: { tools }, answer: jsonAnswer(jsonOf(api, { blocks })) });
    const { message } = completionOf(whole.outcome).choices[0];
    expect(message.tool_calls.map((call: Any) => call.function.arguments)).toEqual(texts);
    const stream = await ask({ api, body: { tools }, stream: true, answer: streamOf(api, { blocks }) });
    const read = readChunks((await readTexts(stream.outcome)).texts);
    expect(read.message.tool_calls?.map((call: Any) => call.function.arguments)).toEqual(texts);
    const { texts: sentTexts } = await ask({
      api,
      answer: fineAnswer(api),
      body: { tools, messages: [user('?'), message, { role: 'tool', tool_call_id: 'c0', content: 'Fine.' }] },
    });
    // Responses has arguments as a JSON text inside a text.
    for (const text of ['{"n":12345678901234567890.10,', namedText])
      expect(sentTexts[0]?.replaceAll('\\', '')).toContain(text);
  });

  it('of a tool whose name every object has are arguments of that tool', async () => {
    const names = ['constructor', 'toString', '__proto__'];
    const tools = [...names, 'constructor_'].map((name) => tool(name));
    const calls = names.map((name, index) => ({ id: `c${index}`, name, args: { city: name } }));
    const namedChoice = { tools, tool_choice: { type: 'function', function: { name: 'constructor' } } };
    const forced = (await ask({ api, body: namedChoice, answer: fineAnswer(api) })).texts[0];
    expect(forced).toMatch(/("name":|"allowedFunctionNames":\[)"constructor__"/);
    const body = { tools };
    const sentText = (await ask({ api, body, answer: fineAnswer(api) })).texts[0] ?? '';
    const givenNames = ['constructor__', 'toString_', '__proto___'];
    expect(sentText.match(/"name":"\w+"/g)).toEqual([...givenNames, 'constructor_'].map((name) => `"name":"${name}"`));
    // The provider calls the tools by the names that were sent.
    const renamedCalls = calls.map((call, index) => ({ ...call, name: givenNames[index] ?? '' }));
    const whole = await ask({ api, body, answer: jsonAnswer(jsonOf(api, { blocks: renamedCalls })) });
    const stream = await ask({ api, body, stream: true, answer: streamOf(api, { blocks: renamedCalls }) });
    const { message } = completionOf(whole.outcome).choices[0];
    for (const { tool_calls: toolCalls } of [message, readChunks((await readTexts(stream.outcome)).texts).message]) {
      expect(toolCalls?.map((call: Any) => [call.function.name, JSON.parse(call.function.arguments).city])).toEqual(
        names.map((name) => [name, name]),
      );
    }
    const history = [user('?'), message, { role: 'tool', tool_call_id: 'c0', content: 'Fine.' }];
    const { texts: again } = await ask({ api, body: { tools, messages: history }, answer: fineAnswer(api) });
    expect(again[0]).not.toMatch(/"name":"(constructor|toString|__proto__)"/);
    // The name occurs in the declaration and in the call; Gemini names the call twice more, in the result that says
    // that it did not run.
    expect(again[0]?.match(/"name":"toString_"/g)).toHaveLength(api === 'generate-content' ? 4 : 2);
  });
});

it.each(['messages', 'converse'] as const)('%s: of many cache marks the four that bring most are kept', async (api) => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const markedText = (text: string) => [{ type: 'text', text, ...mark }];
  const messages = [
    { role: 'system', content: markedText('s1') },
    { role: 'system', content: markedText('s2') },
    ...['u1', 'u2', 'u3', 'u4', 'u5'].flatMap((text) => [
      user(markedText(text)),
      { role: 'assistant', content: `to ${text}` },
    ]),
    user('last'),
  ];
  const text = JSON.stringify(await sentBody(api, { messages }));
  const pattern = api === 'messages' ? /"text":"(\w+)","cache_control"/g : /"text":"(\w+)"\},\{"cachePoint"/g;
  expect([...text.matchAll(pattern)].map(([, name]) => name).toSorted()).toEqual(['s2', 'u3', 'u4', 'u5']);
});

it('what Claude explains of a refusal is the refusal of the message, whole and streamed', async () => {
  const stop_details = { type: 'refusal', category: 'bio', explanation: 'I will not help with that.' };
  const whole = { ...(jsonOf('messages', { blocks: [], reason: 'refusal' }) as Json), stop_details };
  const { outcome } = await ask({ api: 'messages', body: {}, answer: jsonAnswer(whole) });
  expect(completionOf(outcome).choices[0]).toMatchObject({
    finish_reason: 'content_filter',
    message: { refusal: 'I will not help with that.' },
  });
  const { outcome: stream } = await ask({
    api: 'messages',
    stream: true,
    body: {},
    answer: eventStream(
      { type: 'message_start', message: { ...whole, content: [], stop_reason: null } },
      { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  });
  const { texts, error } = await readTexts(stream);
  expect(error).toBeUndefined();
  expect(texts.filter((text) => text.includes('"refusal":"I will not help with that."'))).toHaveLength(1);
});

it('a block that is new, with pieces and events that are new, is left out of an answer of Messages, whole and streamed, and the rest stays', async () => {
  const fresh = { type: 'hologram', rays: [1] };
  const message = jsonOf('messages', { blocks: [{ text: 'Hello.' }] }) as Any;
  const delta = (index: number, piece: Json) => ({ type: 'content_block_delta', index, delta: piece });
  const options = { api: 'messages', body: {} } as const;
  const whole = await ask({ ...options, answer: jsonAnswer({ ...message, content: [fresh, ...message.content] }) });
  expect(completionOf(whole.outcome).choices[0].message.content).toBe('Hello.');
  const stream = await ask({
    ...options,
    stream: true,
    answer: eventStream(
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'weather_update', sky: { type: 'grey' } },
      { type: 'content_block_start', index: 0, content_block: fresh },
      delta(0, { type: 'ray_delta', ray: 2 }),
      delta(0, { type: 'text_delta', text: 'of the hologram' }),
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      delta(1, { type: 'text_delta', text: 'Hello.' }),
      delta(1, { type: 'tone_delta', tone: 'warm' }),
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  });
  const { texts, error } = await readTexts(stream.outcome);
  const read = readChunks(texts);
  expect([error, read.message.content, read.finishReason, read.isEnded]).toEqual([undefined, 'Hello.', 'stop', true]);
});

it('thinking that has begun is output of a stream, before any of it is shown', async () => {
  const { outcome } = await ask({
    api: 'messages',
    stream: true,
    body: {},
    answer: eventStream(
      { type: 'message_start', message: { ...(jsonOf('messages', { blocks: [] }) as Json), stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'ping' },
    ),
  });
  if (outcome.kind !== 'stream') throw new Error(outcome.kind);
  const first = await outcome.batches.next();
  expect(first.value?.events.map(({ details }) => [details.hasOutput, details.isOnlyThinking])).toEqual([[true, true]]);
});

describe('Gemini', () => {
  const answerOf = (parts: readonly Json[] | undefined, finishReason: string): Json => ({
    candidates: [{ content: { role: 'model', parts }, finishReason }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  });
  const both = async (answer: Json, more: Partial<SentRequest> = {}) => {
    const options = { api: 'generate-content', body: {}, ...more } as const;
    const whole = await ask({ ...options, answer: jsonAnswer(answer) });
    const stream = await ask({ ...options, stream: true, answer: eventStream(answer) });
    return { whole: whole.outcome, stream: await readTexts(stream.outcome) };
  };

  it('gets an image of its answer back, with the signature of the image', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 'c2ln' };
    const { whole, stream } = await both(answerOf([{ text: 'A cat.' }, image], 'STOP'));
    const { message } = completionOf(whole).choices[0];
    expect(message.images).toEqual([
      {
        type: 'image_url',
        image_url: { url: 'data:image/png;base64,AAAA' },
        extra_content: { google: { thought_signature: expect.stringMatching(/^gw1\..*\.c2ln$/) } },
      },
    ]);
    expect(readChunks(stream.texts).message.images).toEqual(message.images);
    const messages = [user('Draw a cat.'), message, user('Make it blue.')];
    const { contents } = await sentBody('generate-content', { messages });
    expect(contents[1].parts).toEqual([{ text: 'A cat.' }, image]);
    // Other formats accept images only in the user's messages.
    const claude = await sentBody('messages', { messages });
    expect(claude.messages[1].content).toEqual([{ type: 'text', text: 'A cat.' }]);
    expect(claude.messages[2].content.map(({ type }: Json) => type)).toEqual(['image', 'text']);
  });

  it.each(['SAFETY', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'IMAGE_OTHER'])(
    'that ends with %s has refused',
    async (reason) => {
      const { whole, stream } = await both(answerOf(reason === 'SAFETY' ? undefined : [], reason));
      expect(completionOf(whole).choices[0]).toMatchObject({
        finish_reason: 'content_filter',
        message: { content: '' },
      });
      expect(readChunks(stream.texts).finishReason).toBe('content_filter');
    },
  );

  it.each([
    ['STOP', []],
    ['OTHER', []],
    ['STOP', [{ text: '' }, { text: '' }]],
  ])('that ends with %s and has only the parts %j has failed, whichever client asks', async (reason, parts) => {
    for (const interfaceId of ['chat-completions', 'messages', 'responses'] as const) {
      const options = { interfaceId, body: interfaceId === 'responses' ? { input: '?' } : {} };
      const { whole, stream } = await both(answerOf(parts, reason), options);
      expect(failureOf(whole)).toEqual({ kind: 'failed', cause: 'no_output' });
      expect(stream.error).toMatchObject({ failure: { kind: 'failed', cause: 'no_output' } });
      expect(stream.texts.join()).not.toMatch(/completed|message_stop|"stop"/);
    }
    const outcomes = await both(answerOf([{ text: 'So.' }], reason));
    expect([completionOf(outcomes.whole).choices[0].finish_reason, outcomes.stream.error]).toEqual(['stop', undefined]);
  });

  it.each([[[{ text: '' }]], [[]]])(
    'with the parts %j is an answer if the client gave stops: the first word may be one',
    async (parts) => {
      const options = { body: { stop: ['END'] } };
      const { whole, stream } = await both(answerOf(parts, 'STOP'), options);
      expect(completionOf(whole).choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '' } });
      expect([readChunks(stream.texts).finishReason, stream.error]).toEqual(['stop', undefined]);
      const other = await both(answerOf(parts, 'MALFORMED_RESPONSE'), options);
      expect(failureOf(other.whole)).toMatchObject({ kind: 'failed' });
    },
  );
});

it("encrypted thinking of GPT on Converse is not called Claude's, and comes back to GPT alone", async () => {
  const model = 'openai.gpt-5.2';
  const thinking = { reasoningContent: { redactedContent: 'ZW5j' } };
  const whole = jsonOf('converse', { blocks: [{ text: 'So.' }] }) as Any;
  whole.output.message.content.unshift(thinking);
  const { outcome } = await ask({ api: 'converse', model, body: {}, answer: jsonAnswer(whole) });
  const { message } = completionOf(outcome).choices[0];
  expect(message.reasoning_details).toMatchObject([
    { format: 'openai-responses-v1', data: expect.stringMatching(/^gw1\..*\.ZW5j$/) },
  ]);
  const messages = [user('?'), message, user('!')];
  expect((await sentBody('converse', { messages }, model)).messages[1].content).toContainEqual(thinking);
  expect((await sentBody('converse', { messages })).messages[1].content).toEqual([{ text: 'So.' }]);
});
