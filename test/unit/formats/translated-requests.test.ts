import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { jsonValuesMax } from '../../../shared/foundation/constants/index.ts';
import { rawNumber } from '../../../shared/foundation/ids/index.ts';
import { type Api, apis } from '../../support/provider-answers.ts';
import { ask, detailsOf, failureOf, fineAnswer, type Json, jsonAnswer, sentBody, withEachMember } from './fake-send.ts';

// biome-ignore lint/suspicious/noExplicitAny: a provider's body is looked into field by field.
type Any = any;

const user = (content: unknown): Json => ({ role: 'user', content });
const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Tells it.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const pngUrl = 'data:image/png;base64,iVBORw0KGgo=';
const pdfUrl = 'data:application/pdf;base64,JVBERi0=';
const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const pdf = { type: 'file', file: { filename: 'a report.pdf', file_data: pdfUrl } };
const ephemeral = { cache_control: { type: 'ephemeral' } };
const call = (id: string, args: string, extra: Json = {}) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: args },
  ...extra,
});
const toolCalls = [
  user('Both?'),
  { role: 'assistant', content: 'Looking.', tool_calls: [call('a', '{"city":"Köln"}'), call('b', '')] },
  { role: 'system', content: 'Be brief.' },
  { role: 'tool', tool_call_id: 'a', content: 'Rain.' },
  { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'Sun.' }] },
];

describe.each(apis)('a request to a provider of %s', (api) => {
  it('brings everything that was said, in its order, whatever the conversation', async () => {
    const text = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 }).map((one) => `<${one}>`);
    const content = fc.oneof(
      text,
      fc.array(
        text.map((one) => ({ type: 'text', text: one })),
        { minLength: 1, maxLength: 3 },
      ),
    );
    const turn = fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'system', 'developer', 'assistant'), content }).map((one) => [one]),
      fc
        .tuple(content, fc.array(text, { minLength: 1, maxLength: 3 }))
        .map(([texts, results]) => [
          { role: 'assistant', content: texts, tool_calls: results.map((_one, index) => call(`id.${index}`, '{}')) },
          ...results.map((result, index) => ({ role: 'tool', tool_call_id: `id.${index}`, content: result })),
        ]),
    );
    const textsOf = (value: unknown): string[] => {
      if (typeof value === 'string') return /^<.*>$/s.test(value) ? value.split(/(?<=>)\n(?=<)/) : [];
      return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
    };
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.boolean(), async (turns, hasTools) => {
        const messages = [user('<first>'), ...turns.flat(), user('<last>')];
        const body = await sentBody(api, { messages, ...(hasTools ? { tools: [weather] } : {}) });
        expect(textsOf(body.messages ?? body.contents ?? body.input)).toEqual(
          messages.flatMap(({ content }) => textsOf(content)),
        );
      }),
      { numRuns: 40 },
    );
  });
});

it('the path of a model is below the models of Gemini, whatever its name, unless the name is a whole path', async () => {
  const pathOf = async (model: string) =>
    (await ask({ api: 'generate-content', body: {}, answer: jsonAnswer({}), model })).requests[0]?.path;
  expect(await pathOf('google/gemini')).toBe('/models/google/gemini:generateContent');
  expect(await pathOf('models/gemini')).toBe('/models/gemini:generateContent');
  expect(await pathOf('tunedModels/mine')).toBe('/tunedModels/mine:generateContent');
});

it('Claude gets a temperature or a top_p: it refuses both together', async () => {
  const both = { temperature: 0.5, top_p: 0.25 };
  expect(await sentBody('messages', both)).toMatchObject({ temperature: 0.5 });
  expect((await sentBody('messages', both)).top_p).toBeUndefined();
  expect((await sentBody('converse', both)).inferenceConfig).toEqual({ maxTokens: 32_000, temperature: 0.5 });
  expect((await sentBody('converse', both, 'amazon.nova-pro-v1:0')).inferenceConfig).toMatchObject({ topP: 0.25 });
});

it('arguments of tools stream as the provider checked them: not every host of Claude knows the other way', async () => {
  const { requests } = await ask({ api: 'messages', body: { tools: [weather] }, answer: jsonAnswer({}), stream: true });
  expect(JSON.stringify(requests[0]?.body)).toContain('weather');
  expect(JSON.stringify(requests[0]?.body)).not.toContain('eager');
});

describe('a conversation with tools', () => {
  const ids = (body: Any, api: Api): [string[], string[]] => {
    const parts = (body.input ?? body.messages ?? body.contents).flatMap((one: Any) => one.content ?? one.parts ?? one);
    const read = {
      messages: [(one: Any) => one.type === 'tool_use' && one.id, (one: Any) => one.tool_use_id],
      responses: [
        (one: Any) => one.type === 'function_call' && one.call_id,
        (one: Any) => one.output !== undefined && one.call_id,
      ],
      converse: [(one: Any) => one.toolUse?.toolUseId, (one: Any) => one.toolResult?.toolUseId],
      'generate-content': [(one: Any) => one.functionCall?.id, (one: Any) => one.functionResponse?.id],
    }[api];
    return read.map((pick) => parts.map(pick).filter(Boolean)) as [string[], string[]];
  };

  const countedIds = ['f:0', 'call_1', 'tool_call_1'];
  const oddIds: readonly [string, string[][], string[]][] = [
    ['that the provider would refuse', [['functions.weather:0', 'x'.repeat(65), 'ok_1', 'ü']], ['ok_1']],
    ['that models count anew', [countedIds, countedIds, countedIds], ['call_1', 'tool_call_1']],
  ];
  it.each(apis.flatMap((api) => oddIds.map((row) => [api, ...row] as const)))(
    '%s: ids %s get others, of calls and results alike',
    async (api, _what, turns, expectedTexts) => {
      const messages = turns.flatMap((texts): Json[] => [
        { role: 'assistant', content: null, tool_calls: texts.map((id) => call(id, '{}')) },
        ...texts.map((id) => ({ role: 'tool', tool_call_id: id, content: 'Fine.' })),
      ]);
      const [calls, results] = ids(await sentBody(api, { messages: [user('?'), ...messages], tools: [weather] }), api);
      expect(calls).toEqual(results);
      expect(new Set(calls).size).toBe(turns.flat().length);
      expect(calls.filter((id) => turns.flat().includes(id))).toEqual(expectedTexts);
      for (const id of calls) expect(id).toMatch(/^[\w-]{1,64}$/);
    },
  );

  it.each([
    ['no JSON', '{"city": "Kö', '{"city": "Kö'],
    ['no object', '[1]', [1]],
    ['null', 'null', 'null'],
    ['nested too deep', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, undefined],
    ['of more values than a conversation may hold', `{"a":[${'{},'.repeat(jsonValuesMax)}1]}`, undefined],
  ])('keeps what a model wrote that is %s, as an object that says so', async (_what, args, expectedArgs) => {
    const messages = [
      user('?'),
      { role: 'assistant', tool_calls: [call('a', args), call('b', '{"city":"Köln"}')] },
      { role: 'tool', tool_call_id: 'a', content: 'Invalid.' },
      { role: 'tool', tool_call_id: 'b', content: 'Rain.' },
    ];
    for (const api of apis) {
      const body = await sentBody(api, { messages, tools: [weather] });
      const parts = body.input?.slice(1, 3) ?? (body.messages ?? body.contents)[1].content ?? body.contents[1].parts;
      const inputs = parts.map(
        (part: Any) => part.input ?? part.toolUse?.input ?? part.functionCall?.args ?? JSON.parse(part.arguments),
      );
      expect(inputs).toEqual([{ rawInvalidInput: expectedArgs ?? args }, { city: 'Köln' }]);
    }
  });

  it.each(apis)('%s: all arguments together hold no more values than a body', async (api) => {
    const args = `{"a":[${'1,'.repeat(jsonValuesMax / 2)}1]}`;
    const messages = [user('?'), { role: 'assistant', tool_calls: ['a', 'b'].map((id) => call(id, args)) }];
    const text = JSON.stringify(await sentBody(api, { messages, tools: [weather] }));
    expect(text.split('rawInvalidInput').length).toBe(2);
  });
});

describe('thinking', () => {
  const thinkingOf = async (api: Api, body: Json, model?: string) => {
    const sentMessage = await sentBody(api, body, model);
    if (api === 'generate-content') return sentMessage.generationConfig.thinkingConfig;
    return api === 'messages' ? sentMessage.thinking : sentMessage.additionalModelRequestFields?.thinking;
  };

  it.each([
    ['less than 1,024 tokens are left for it', { max_tokens: 1_024, reasoning: { effort: 'high' } }],
    ['it is switched off', { reasoning: { enabled: false } }],
    ['its budget is nothing', { reasoning: { max_tokens: 0 } }],
  ])('is off if %s', async (_why, body) => {
    expect(await thinkingOf('messages', body)).toEqual({ type: 'disabled' });
    expect(await thinkingOf('converse', body)).toEqual({ type: 'disabled' });
    expect(await thinkingOf('generate-content', body)).toEqual({ thinkingBudget: 0 });
  });

  it('of Nova at high effort, which takes no bound, is of the effort below that does', async () => {
    const body = await sentBody('converse', { max_tokens: 900, reasoning_effort: 'high' }, 'amazon.nova-2-lite-v1:0');
    expect(body.inferenceConfig.maxTokens).toBe(900);
    expect(JSON.stringify(body.additionalModelRequestFields ?? {})).not.toContain('high');
    const large = { max_tokens: 8_000, reasoning_effort: 'high' };
    const { inferenceConfig, additionalModelRequestFields } = await sentBody(
      'converse',
      large,
      'amazon.nova-2-lite-v1:0',
    );
    expect([inferenceConfig.maxTokens, additionalModelRequestFields.reasoningConfig.maxReasoningEffort]).toEqual([
      8_000,
      'medium',
    ]);
  });

  const forced: readonly (readonly [string, Json, messages: Json, converse: Json])[] = [
    ['a call of any tool', { tool_choice: 'required' }, { type: 'any' }, { any: {} }],
    [
      'a call of one tool',
      { tool_choice: { type: 'function', function: { name: 'weather' } } },
      { type: 'tool', name: 'weather' },
      { tool: { name: 'weather' } },
    ],
    [
      'a call of some tools',
      { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'weather' }] } },
      { type: 'any' },
      { any: {} },
    ],
    [
      'JSON, which is a call of a tool there',
      { response_format: { type: 'json_object' } },
      { type: 'any', disable_parallel_tool_use: true },
      { any: {} },
    ],
  ];
  const claudes = [undefined, 'claude-opus-4-6', 'claude-opus-4-7'];
  it.each(forced)('is off if the request wants %s: Claude refuses both', async (_what, more, ...chosen) => {
    for (const messages of [[user('?')], toolCalls]) {
      const request = { messages, tools: [weather], reasoning: { effort: 'high' }, ...more };
      for (const [index, api] of (['messages', 'converse'] as const).entries()) {
        for (const claude of claudes) {
          const model = claude && api === 'converse' ? `eu.anthropic.${claude}-v1` : claude;
          const {
            tool_choice: choice,
            toolConfig = { toolChoice: choice },
            ...sentFields
          } = await sentBody(api, request, model);
          expect(sentFields.thinking ?? sentFields.additionalModelRequestFields?.thinking).toBeUndefined();
          expect([api, toolConfig.toolChoice]).toEqual([api, chosen[index]]);
        }
      }
    }
  });

  const thought = { type: 'reasoning.text', text: 'Let me see.', signature: 's', index: 0 };
  const [firstPiece, lastPiece] = [
    { ...thought, text: 'Let me ', signature: undefined },
    { ...thought, text: '' },
  ];
  const block = (thinking: string) => [{ type: 'thinking', thinking, signature: 's' }];
  it.each<[string, Json[], reasoning: string | undefined, Json[]]>([
    ['that is whole comes back', [thought], ' see.', block('Let me see.')],
    [
      'in the pieces of a stream is put together',
      [firstPiece, { ...firstPiece, text: 'see.' }, lastPiece],
      undefined,
      block('Let me see.'),
    ],
    ['whose text the provider does not show comes back with its signature alone', [lastPiece], undefined, block('')],
    [
      'of which a client kept the last piece only is not sent: its text would not be the signed one',
      [lastPiece],
      ' see.',
      [],
    ],
    [
      'of which a client kept the encrypted piece only is not sent',
      [{ type: 'reasoning.encrypted', data: 'ZW5j', index: 1 }],
      ' see.',
      [],
    ],
  ])('%s', async (_what, details, reasoning, blocks) => {
    const answerMessage = {
      role: 'assistant',
      content: 'So.',
      reasoning,
      reasoning_details: detailsOf('messages', ...details),
    };
    const { messages } = await sentBody('messages', { messages: [user('?'), answerMessage, user('!')] });
    expect(messages[1].content).toEqual([...blocks, { type: 'text', text: 'So.' }]);
  });
});

it('an image of a kind that the provider does not take is a rejected request, not a fault', async () => {
  const { outcome, requests } = await ask({
    api: 'converse',
    body: { messages: [user([image('data:image/tiff;base64,AAAA')])] },
    answer: jsonAnswer({}),
  });
  expect([failureOf(outcome), requests]).toEqual([
    { kind: 'invalid', reason: 'unsupported_image_format', cause: 'not_translatable' },
    [],
  ]);
});
it('fields of any type are sent or refused, never an error of the gateway', async () => {
  const details = [{ type: 'reasoning.text', text: 'r', signature: 's', index: 0 }];
  const answerMessage = { role: 'assistant', content: 'a', reasoning_details: details, tool_calls: [call('q', '{}')] };
  const numbers = {
    max_tokens: 4_000,
    temperature: 1,
    top_p: 0.5,
    top_k: 3,
    seed: 1,
    n: 1,
    best_of: 1,
    top_logprobs: 0,
  };
  const body = {
    ...numbers,
    presence_penalty: 1,
    service_tier: 'auto',
    stop: ['a'],
    tools: [weather],
    tool_choice: 'auto',
    reasoning: { effort: 'high' },
    response_format: { type: 'json_object' },
    messages: [user([{ type: 'text', text: 't', ...ephemeral }, image(pngUrl), pdf]), answerMessage, toolCalls[3]],
  };
  for (const odd of [rawNumber('1e400'), { a: null }, 'x']) {
    for (const api of apis) {
      for (const request of withEachMember(body, odd)) {
        const { outcome } = await ask({ api, body: request as Json, answer: fineAnswer(api) });
        expect(['json', 'failure']).toContain(outcome.kind);
      }
    }
  }
});

it('a data URL that is not in base64 gives its bytes, whatever its percent signs', async () => {
  const url = (text: string) => user([{ type: 'file', file: { file_data: `data:text/plain,${text}` } }]);
  for (const [text, bytes] of [
    ['a%20b%C3%BC', Buffer.from('a bü')],
    ['%FF%00', Buffer.of(0xff, 0)],
    ['50% %zz %4', Buffer.from('50% %zz %4')],
    ['ü', Buffer.from('ü')],
  ] as const) {
    const { contents } = await sentBody('generate-content', { messages: [url(text)] });
    expect(contents[0].parts[0].inlineData.data).toBe(bytes.toString('base64'));
  }
});

describe('what providers refuse that clients of chat completions send', () => {
  it('a conversation of instructions only has a message of the user', async () => {
    const messages = [{ role: 'system', content: 'Greet.' }];
    // Responses accepts a conversation of instructions only.
    for (const api of apis.filter((one) => one !== 'responses')) {
      const body = await sentBody(api, { messages });
      expect((body.messages ?? body.contents).map(({ role }: Any) => role)).toEqual(['user']);
    }
  });

  it('a function without parameters says that it takes an object', async () => {
    const tools = [undefined, null, {}].map((parameters) => ({
      type: 'function',
      function: { name: 'now', parameters },
    }));
    const none = { type: 'object', properties: {} };
    const { tools: anthropic } = await sentBody('messages', { tools });
    expect(anthropic.map((tool: Any) => tool.input_schema)).toEqual([none, none, none]);
    const { toolConfig } = await sentBody('converse', { tools });
    expect(toolConfig.tools.map((tool: Any) => tool.toolSpec.inputSchema.json)).toEqual([none, none, none]);
    const responses = await sentBody('responses', { tools });
    expect(responses.tools.map((tool: Any) => tool.parameters)).toEqual([none, none, none]);
  });

  it('a tool that answered nothing is said to Converse in words', async () => {
    for (const content of ['', ' \n', []]) {
      const messages = [
        user('?'),
        { role: 'assistant', tool_calls: [call('a', '{}')] },
        { role: 'tool', tool_call_id: 'a', content },
      ];
      const converse = await sentBody('converse', { messages, tools: [weather] });
      expect(converse.messages[2].content[0].toolResult.content).toEqual([{ text: '(no output)' }]);
      const anthropic = await sentBody('messages', { messages, tools: [weather] });
      expect(anthropic.messages[2].content[0]).toMatchObject({ tool_use_id: 'a', content: '' });
    }
  });

  it.each(['', ' ', '\n\n'])('texts and messages that say nothing are left out: %j', async (blank) => {
    const messages = [
      { role: 'system', content: ' ' },
      user([
        { type: 'text', text: blank },
        { type: 'text', text: 'Hi.' },
      ]),
      { role: 'assistant', content: blank },
      user('So?'),
      // Claude itself writes such texts before it calls a tool.
      { role: 'assistant', content: blank, tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: 'a', content: blank },
    ];
    for (const api of apis) {
      const {
        messages: sentMessages,
        contents = sentMessages,
        input = contents,
      } = await sentBody(api, { messages, tools: [weather] });
      const texts = input.flatMap(({ content, parts = content ?? [] }: Any) => parts).map(({ text }: Any) => text);
      expect([api, texts.filter((text: unknown) => text !== undefined)]).toEqual([api, ['Hi.', 'So?']]);
    }
  });
});
