// Requests and answers with as many parts as they may have: each part is visited a few times, however many there are,
// and other work has the event loop between the steps of a translation.
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { beforeEach, describe, expect, it } from '#jest';
import { parseInSteps } from '../../../functions/gateway/routing/route.ts';
import type { CallBody, IdentifiedCall } from '../../../functions/gateway/stages.ts';
import { type HubApi, upstreamEventMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { inOneTurn } from '../../../shared/foundation/time/index.ts';
import {
  addResults,
  collectFieldsInside,
  type HubCall,
  type HubPart,
  type HubSource,
  imagesOfUser,
  oneCallAtATime,
  readCall,
  toInputSchema,
  withCacheMarksMax,
} from '../../../shared/protocol/hub/index.ts';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { chatSource } from '../../../shared/protocol/interfaces/chat-completions/translation/index.ts';
import { openConverseFold } from '../../../shared/protocol/interfaces/converse/stream-fold.ts';
import { converseSource } from '../../../shared/protocol/interfaces/converse/translation/index.ts';
import { generateContentSource } from '../../../shared/protocol/interfaces/generate-content/translation/index.ts';
import type { ClientRequest } from '../../../shared/protocol/interfaces/index.ts';
import { messagesSource } from '../../../shared/protocol/interfaces/messages/translation/index.ts';
import { useInMessages } from '../../../shared/protocol/interfaces/messages/translation/message-fields.ts';
import { providerStateIn } from '../../../shared/protocol/interfaces/provider-state.ts';
import { responseSettings } from '../../../shared/protocol/interfaces/responses/index.ts';
import { readHubNeeds } from '../../../shared/protocol/interfaces/responses/response-hub-needs.ts';
import { responsesSource } from '../../../shared/protocol/interfaces/responses/translation/index.ts';
import { readEvents } from '../../../shared/protocol/server-sent-events/index.ts';
import { createEnvelopes, type JsonObject, jsonTextOf, noEnvelopes } from '../../../shared/protocol/wire/index.ts';
import { boundedSend } from '../../../shared/routing/formats/hub/bounded-send.ts';
import { geminiEvents } from '../../../shared/routing/formats/hub/targets/generate-content-target.ts';
import { isStrictFormat } from '../../../shared/routing/formats/hub/targets/json-format.ts';
import { plainPrompt } from '../../../shared/routing/formats/hub/targets/plain-prompt.ts';
import type { CandidateRequest } from '../../../shared/routing/formats/index.ts';
import { receivingSend } from '../../../shared/routing/formats/received-answer.ts';
import { ruledMessages, rulesOf, withRuledMessages } from '../../../shared/routing/formats/target-rules/index.ts';
import { readStream } from '../../../shared/routing/providers/index.ts';
import { inTurns } from '../../support/in-turns.ts';
import { ask, candidateOf, completionOf, fakeSend, jsonAnswer, turnsOf } from './fake-send.ts';

const partsAtOnceMax = inOneTurn.items;

const count = 1_000;
/** Maximum number of visits to a part: for its kind, its place and its content. */
const looksMax = 100;

const walks = [
  ...(['includes', 'indexOf', 'find', 'findIndex', 'findLast', 'findLastIndex', 'some', 'every'] as const),
  ...(['filter', 'map', 'flatMap', 'concat', 'slice', 'toSpliced', Symbol.iterator] as const),
];

/** Returns how many items of lists are visited or copied for each part. */
async function looksOf(run: () => unknown): Promise<number> {
  let items = 0;
  const list = Array.prototype as unknown as Record<string | symbol, (...args: unknown[]) => unknown>;
  const originals = new Map(walks.map((name) => [name, list[name]] as const));
  originals.forEach((walk, name) => {
    list[name] = function (this: unknown[], ...args: unknown[]) {
      items += this.length;
      return walk?.apply(this, args);
    };
  });
  try {
    await run();
  } finally {
    originals.forEach((walk, name) => {
      if (walk !== undefined) list[name] = walk;
    });
  }
  return items / count;
}

const each = <One>(make: (index: number) => One) => Array.from({ length: count }, (_one, index) => make(index));
const sources = {
  'chat-completions': chatSource,
  messages: messagesSource,
  responses: responsesSource,
  converse: converseSource,
  'generate-content': generateContentSource,
};
const callOf = (source: HubSource, body: JsonObject, opens = noEnvelopes) => readCall(source(body, opens));
const result = { type: 'tool-result', toolCallId: 'c', toolName: 'f', output: { type: 'text', value: 'r' } } as const;
const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const image = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } } as const;
const envelopes = createEnvelopes(Buffer.alloc(32), 'team-a');
const textSignature = envelopes.seal({ origin: 'o', model: 'm', signature: 's', of: 'text' });
const names = each((index) => `f${index}`);
const promptOf = (...messages: unknown[]) => messages as LanguageModelV4Prompt;
const hubCallOf = (members: object) => members as HubCall;
const mistral = rulesOf('chat-completions', {
  provider: { kind: 'mistral' },
  entry: { upstream_model: 'mistral-large' },
  model: { id: 'm' },
});
const ruledBy = (messages: readonly object[]): { role: string }[] =>
  JSON.parse(ruledMessages(jsonTextOf({ messages }), mistral)?.text ?? '[]');
const allowedTools = { mode: 'auto', tools: names.map((name) => ({ type: 'function', function: { name } })) };

describe('of very many parts each is looked at a few times only', () => {
  it.each<[string, () => unknown]>([
    [
      'in a choice among tools of chat completions',
      () =>
        callOf(chatSource, {
          tools: allowedTools.tools,
          tool_choice: { type: 'allowed_tools', allowed_tools: allowedTools },
        }),
    ],
    [
      'images of answers',
      () =>
        imagesOfUser(promptOf(...each(() => ({ role: 'assistant', content: [image] })), { role: 'user', content: [] })),
    ],
    [
      'signatures of one text',
      () => {
        const calls = names.map((name) => ({ type: 'tool_use', id: name, name, input: {} }));
        const signatures = each(() => ({ type: 'redacted_thinking', data: textSignature }));
        const content = [{ type: 'text', text: 'a' }, ...calls, ...signatures];
        return callOf(messagesSource, { messages: [{ role: 'assistant', content }] }, envelopes);
      },
    ],
    [
      'calls and results that a target wants in its own ids',
      () => {
        const calls = names.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } }));
        const results = names.map((id) => ({ role: 'tool', tool_call_id: id, content: 'r' }));
        const messages = [{ role: 'user', content: 'a' }, { role: 'assistant', tool_calls: calls }, ...results];
        expect(ruledBy(messages)).toHaveLength(messages.length);
      },
    ],
    [
      'turns in a row of a target that takes none',
      () => {
        const turns = each(() => ({ role: 'user', content: [{ type: 'text', text: 'a' }] }));
        const [turn, ...others] = ruledBy(turns) as { content?: unknown[] }[];
        expect([turn?.content?.length, others]).toEqual([count, []]);
      },
    ],
    [
      'cache marks',
      () =>
        withCacheMarksMax(
          hubCallOf({
            tools: names.map((name) => ({ name, providerOptions: mark })),
            prompt: each(() => ({ role: 'system', content: '', providerOptions: mark })),
          }),
        ),
    ],
    ...[1, count / 2].map((inARow): [string, () => unknown] => [
      `calls of Gemini without ids, ${inARow} in a row, and their results`,
      async () => {
        const contents = Array.from({ length: count / inARow }, (_one, index) => {
          const isCall = index % 2 === 0;
          const part = isCall ? { functionCall: { name: 'f' } } : { functionResponse: { name: 'f', response: {} } };
          return { role: isCall ? 'model' : 'user', parts: Array.from({ length: inARow }, () => part) };
        });
        const { call } = await callOf(generateContentSource, { contents });
        expect(call.prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))).toHaveLength(count / 2);
      },
    ]),
    [
      'contents of a model of Gemini that follow each other',
      async () => {
        const contents = each(() => ({ role: 'model', parts: [{ text: 'a' }, { functionCall: { name: 'f' } }] }));
        const { call } = await callOf(generateContentSource, { contents });
        expect(call.prompt).toHaveLength(1);
      },
    ],
    [
      'calls of Converse and their results',
      async () => {
        const calls = names.map((name) => ({ toolUse: { toolUseId: name, name, input: {} } }));
        const results = names.map((name) => ({ toolResult: { toolUseId: name, content: [{ text: 'r' }] } }));
        const messages = [
          { role: 'assistant', content: calls },
          { role: 'user', content: results },
        ];
        const { call } = await callOf(converseSource, { messages });
        expect(call.prompt.at(-1)?.content).toHaveLength(count);
      },
    ],
    [
      'pieces of a result in a stream of Converse',
      () => {
        const fold = openConverseFold((text) => text);
        for (const text of names) fold.add({ contentBlockIndex: 0, delta: { toolResult: [{ text }] } });
        expect(JSON.stringify(fold.answer())).toContain('f999');
      },
    ],
    [
      'members of a strict schema',
      () => {
        const properties = Object.fromEntries(names.map((name) => [name, {}]));
        const schema = { type: 'object', additionalProperties: false, properties, required: names };
        expect(isStrictFormat(hubCallOf({ responseFormat: { type: 'json', schema } }))).toBe(true);
      },
    ],
  ])('%s', async (_what, run) => {
    expect(await looksOf(run)).toBeLessThan(looksMax);
  });

  it('a relayed history is read to its first break, then from the client only if its body has it once, and not at all if its target takes any', () => {
    const messages = Array.from({ length: 1_000 }, () => ({ role: 'user', content: 'x' }));
    const readOf = (rules: typeof mistral, body: JsonObject) => {
      const sentText = jsonTextOf({ messages });
      const inside = sentText.inside.bind(sentText);
      let read = 0;
      sentText.inside = function* (value: number) {
        for (const inner of inside(value)) {
          read += 1;
          yield inner;
        }
      };
      const { text } = withRuledMessages(JSON.stringify(body), sentText, rules);
      return { read, written: JSON.parse(text) as JsonObject };
    };
    const joined = (content: string) => [{ role: 'user', content: Array(1_000).fill(content).join('\n\n') }];
    expect(readOf(mistral, { model: 'a', messages, stop: 'b' })).toEqual({
      read: 1_002,
      written: { model: 'a', messages: joined('x'), stop: 'b' },
    });
    const metadata = { messages };
    expect(readOf(mistral, { metadata, messages })).toEqual({ read: 2, written: { metadata, messages: joined('x') } });
    const otherMessages = messages.map((message) => ({ ...message, content: 'y' }));
    expect(readOf(mistral, { messages: otherMessages })).toEqual({ read: 2, written: { messages: joined('y') } });
    const lenient = { ...mistral, acceptsConsecutiveTurns: true, acceptsDeveloperRole: true, callIds: 'any' } as const;
    expect(readOf(lenient, { messages })).toEqual({ read: 0, written: { messages } });
  });

  it('the path of a block is made if it has a field to report', () => {
    let paths = 0;
    const list = () => {
      paths += 1;
      return 'messages';
    };
    const fields = collectFieldsInside(useInMessages);
    fields.add({ role: 'user', content: each(() => ({ type: 'text', text: 'a' })) }, 0, list);
    expect([fields.found, paths]).toEqual([[], 0]);
    fields.add(
      { role: 'user', content: [...each(() => ({ type: 'text', text: 'a' })), { type: 'text', odd: 1 }] },
      7,
      list,
    );
    expect([fields.found, paths]).toEqual([
      [{ name: 'other', member: `messages[7].content[${count}].odd`, value: 1 }],
      1,
    ]);
  });

  it.each([
    ['that are declared', 0, 'forced_tool', count],
    ['that are not', count, 'tools', 0],
  ] as const)('if a choice of Responses allows tools %s', async (_which, offset, kind, allowed) => {
    const toolNamed = (index: number) => ({ type: 'function', name: `f${index}` });
    const chosen = each((index) => toolNamed(count - 1 - index + offset));
    const body = {
      input: '?',
      tools: each(toolNamed),
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: chosen },
    };
    const looks = await looksOf(async () => {
      expect(readHubNeeds(body)).toEqual([{ kind, member: 'tool_choice' }]);
      expect((await callOf(responsesSource, body)).call.tools ?? []).toHaveLength(allowed);
    });
    expect(looks).toBeLessThan(looksMax);
  });

  it('if instructions are among results', async () => {
    const prompt = promptOf(
      ...each((index) =>
        index % 2 === 0 ? { role: 'system', content: `${index}` } : { role: 'tool', content: [result] },
      ),
    );
    const looks = await looksOf(() => {
      const roles = plainPrompt(prompt, false).map(({ role }) => role);
      expect(roles).toEqual([...Array(count / 2).fill('tool'), ...Array(count / 2).fill('system')]);
    });
    expect(looks).toBeLessThan(looksMax);
  });

  it('if results make one message: it grows, and is not written anew for each', () => {
    const prompt: LanguageModelV4Prompt = [];
    const message = { role: 'tool', content: [result] } as const;
    addResults(prompt, { ...message, content: [...message.content] });
    const [first] = prompt;
    for (let more = 1; more < count; more += 1) addResults(prompt, { ...message, content: [...message.content] });
    expect(prompt).toHaveLength(1);
    expect(prompt[0]).toBe(first);
    expect(first?.content).toHaveLength(count);
    expect(message.content).toHaveLength(1);
  });

  it('if calls of a stream are written side by side: each is whole before the next begins, and what came between stays there', async () => {
    const start = (id: string): HubPart => ({ type: 'tool-input-start', id, toolName: 'f' });
    const end = (id: string): HubPart => ({ type: 'tool-call', toolCallId: id, toolName: 'f', input: '{}' });
    const text = (delta: string): HubPart => ({ type: 'text-delta', id: 't', delta });
    const last = { type: 'finish' } as HubPart;
    const between = ['a', 'b'].map(text);
    const parts = [...names.map(start), ...between, start('open'), end('f1'), ...names.toSpliced(1, 1).map(end), last];
    const hubParts: HubPart[] = [];
    const inOrder = oneCallAtATime();
    const looks = await looksOf(() => {
      for (const part of parts) hubParts.push(...inOrder(part));
    });
    expect(hubParts).toEqual([...names.flatMap((name) => [start(name), end(name)]), ...between, start('open'), last]);
    expect(looks).toBeLessThan(looksMax);
  });
});

it('objects without a reference to kept input are asked for their few fields, not for all that such references may be in', () => {
  let reads = 0;
  const countingAccess = (object: Record<string, unknown>) =>
    new Proxy(object, {
      get: (fields, name) => {
        reads += 1;
        return fields[String(name)];
      },
    });
  const parts = each(() => countingAccess({ type: 'text', text: 'a' }));
  const messages = [...each(() => countingAccess({ role: 'user' })), { role: 'user', content: parts }];
  expect(providerStateIn({ messages, tools: each(() => countingAccess({})) })).toEqual([]);
  expect(reads).toBeLessThanOrEqual(3 * 2 * count);
  const reference = { type: 'item_reference', id: 'i' };
  expect(providerStateIn({ messages: [{ role: 'user', content: [...parts, reference] }] })).toEqual([
    { member: `messages[0].content[${count}]`, id: 'i', isCompared: false },
  ]);
});

describe('of very many fields of one object', () => {
  let reads = 0;
  /** Returns an object that counts each read of a field, including reads by a copy. */
  const many = (more: object = {}) =>
    new Proxy(Object.fromEntries([...names.map((name) => [name, 1]), ...Object.entries(more)]), {
      get: (members, name) => {
        reads += 1;
        return members[String(name)];
      },
    });
  beforeEach(() => {
    reads = 0;
  });

  it.each([
    ['chat-completions', 'itself', (): object => many({ messages: [] })],
    ['messages', 'itself', () => many({ messages: [] })],
    ['messages', 'thinking', () => ({ messages: [], thinking: many() })],
    ['messages', 'output_config', () => ({ messages: [], output_config: many() })],
    ['messages', 'a tool', () => ({ messages: [], tools: [many({ input_schema: {} })] })],
    ['responses', 'itself', () => many({ input: '' })],
    ['responses', 'text', () => ({ input: '', text: many() })],
    ['responses', 'reasoning', () => ({ input: '', reasoning: many() })],
  ] as const)('a request of %s, in %s, as many are read as are reported as left out', async (source, _where, make) => {
    const { call } = await callOf(sources[source], make() as JsonObject);
    expect(call.optional).toHaveLength(32);
    expect(call.optional.at(-1)?.member).toMatch(/f31$/);
    expect(reads).toBeLessThan(looksMax);
  });

  it('a schema without a type is sent as it is, and no copy of it is made', () => {
    const schema = many();
    expect(toInputSchema(schema)).toBe(schema);
    expect(reads).toBeLessThan(looksMax);
    expect(toInputSchema({ required: [] })).toEqual({ type: 'object', properties: {}, required: [] });
  });

  it('a response repeats a tool without a copy of it, and of other settings what the call was made with', () => {
    // A copy would not have this method.
    const tool = Object.defineProperty({ type: 'function', strict: true }, 'toJSON', {
      value: () => ({ name: 'own' }),
    });
    const body = { tools: [tool], text: many(), reasoning: many({ effort: 'low' }) };
    const { tools, text, reasoning } = JSON.parse(responseSettings(body));
    expect(tools).toEqual([{ name: 'own', description: null, parameters: null }]);
    expect(reads).toBeLessThan(looksMax);
    expect([text, reasoning]).toEqual([{ format: { type: 'text' } }, { effort: 'low', summary: null }]);
  });
});

describe.each(Object.keys(sources) as (keyof typeof sources)[])('a request of %s of very many messages', (source) => {
  it('is read in steps, between which others have the event loop', async () => {
    const blocks = [{ text: 'a' }];
    const [content, parts] = [source === 'converse' ? blocks : 'a', blocks];
    const messages = Array.from({ length: 10 * count }, () => ({ role: 'user', content, parts }));
    const { read, turns } = await inTurns(() =>
      callOf(sources[source], { messages, input: messages, contents: messages }),
    );
    expect(read.call.prompt).toHaveLength(messages.length);
    expect(turns).toBeGreaterThanOrEqual(9);
  });
});

it('what the plan asks of a long body is read in turns of their own, and the whole body only if it may be translated', async () => {
  const catalogue = (api: HubApi) => ({ models: new Map([['m', { candidates: [candidateOf(api)] }]]) });
  const readsOf = async (api: HubApi) => {
    const reads: [string, number][] = [];
    let turn = () => 0;
    const read = (what: string) => () => {
      reads.push([what, turn()]);
    };
    const request = {
      interfaceId: 'messages',
      model: 'm',
      fallbackModels: [],
      text: () => ({ text: 'x'.repeat(100_000) }),
      needs: read('needs'),
      size: read('size'),
      hubNeeds: read('hub needs'),
    } as unknown as ClientRequest;
    const bodyMemory = { isLong: true, readValues: async () => read('body')(), letGoMedia: () => {} };
    const visible = { catalogue: catalogue(api), workspace: { models: 'all' } } as unknown as IdentifiedCall;
    await inTurns((turnOfOthers) => {
      turn = turnOfOthers;
      return parseInSteps({ request, bodyMemory } as unknown as CallBody, visible);
    });
    return reads;
  };
  const translatedReads = await readsOf('converse');
  expect(translatedReads.map(([what]) => what)).toEqual(['needs', 'size', 'body', 'hub needs']);
  expect(new Set(translatedReads.slice(0, 3).map(([, turn]) => turn)).size).toBe(3);
  expect((await readsOf('messages')).map(([what]) => what)).toEqual(['needs', 'size']);
});

describe.each(['messages', 'responses', 'chat-completions', 'converse', 'generate-content'] as const)(
  'a request to a provider of %s',
  (api) => {
    const interfaceId = api === 'messages' ? 'chat-completions' : 'messages';
    const answer = { kind: 'failed', cause: 'status_500' } as const;
    const turnsWith = (messages: readonly object[]) =>
      turnsOf(() => ask({ api, interfaceId, body: { messages }, answer }));
    const one = (characters: number) => [{ role: 'user', content: 'x'.repeat(characters) }];

    it('is translated in steps, between which others have the event loop, if it is long or has many values, else at once', async () => {
      await turnsWith(one(1));
      const short = await turnsWith(one(500_000));
      const many = Array.from({ length: 3_400 }, () => ({ role: 'user', content: 'x' }));
      expect((await turnsWith(one(600_000))) - short).toBeGreaterThanOrEqual(6);
      expect((await turnsWith(many)) - short).toBeGreaterThanOrEqual(6 + 3);
      expect(short).toBeLessThanOrEqual(2);
    });
  },
);

it('a whole answer of Responses of very many texts is read in pieces, however many values its package would get', async () => {
  const texts = Array.from({ length: 24_000 }, (_one, index) => ({ type: 'output_text', text: `${index} ` }));
  const answer = { output: [{ type: 'message', content: texts }], usage: { input_tokens: 7, output_tokens: 1 } };
  const call = ask({ api: 'responses', answer: jsonAnswer(answer), body: {} });
  expect(await turnsOf(() => call)).toBeGreaterThan(texts.length / partsAtOnceMax);
  expect(completionOf((await call).outcome).choices[0].message.content).toBe(texts.map(({ text }) => text).join(''));
});

it.each([
  ['line feeds', '\n'],
  ['carriage returns', '\r'],
])(
  'a stream with %s for a package that comes at once is passed on in turns, divided after lines, and long lines as they came',
  async (_name, lineEnd) => {
    const passedOn = async (bytes: Buffer) => {
      const { send } = fakeSend({ contentType: 'text/event-stream', bytes: [bytes] });
      const receiving = receivingSend(send, { api: 'chat-completions', stream: true });
      const sendResult = await boundedSend(receiving, false).send({ body: () => '{}' } as unknown as CandidateRequest);
      if (sendResult.kind !== 'answer') throw new Error('not received');
      const pieces: (readonly [turn: number, text: string])[] = [];
      await inTurns(async (turn) => {
        for await (const piece of sendResult.body) pieces.push([turn(), Buffer.from(piece).toString('latin1')]);
      });
      expect(pieces.map(([, text]) => text).join('')).toBe(bytes.toString('latin1'));
      return pieces;
    };
    const pieces = await passedOn(Buffer.from(`: alive${lineEnd}`.repeat(50_000)));
    const lines = pieces.map(([, text]) => text.split(lineEnd).length - 1);
    expect(Math.max(...lines)).toBe(inOneTurn.lines);
    expect(new Set(pieces.map(([turn]) => turn)).size).toBe(pieces.length);
    const long = `data: ${'x'.repeat(200_000)}${lineEnd}${lineEnd}`;
    expect(await passedOn(Buffer.from(`${long.repeat(20)}: al`))).toHaveLength(1);
  },
);

it('a long chat completion is parsed once, by its package, for a client of another interface', async () => {
  const content = 'a\n'.repeat(100_000);
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  const answer = jsonAnswer({ id: 'a', model: 'm', created: 1, choices, usage });
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (text: string, ...more: []) => {
    if (text.length > content.length) parsed += 1;
    return parse(text, ...more);
  };
  const asking = ask({ api: 'chat-completions', interfaceId: 'messages', answer, body: { messages: [] } });
  const { outcome } = await asking.finally(() => {
    JSON.parse = parse;
  });
  expect(parsed).toBe(1);
  expect(outcome.kind === 'json' && outcome.answer.usage?.tokens).toMatchObject({ input: 7, output: 5 });
});

it.each(['chat-completions', 'messages', 'responses'] as const)(
  'a whole answer of long thinking is written for a client of %s in pieces',
  async (interfaceId) => {
    const api = interfaceId === 'responses' ? 'messages' : 'responses';
    const turnsWith = (characters: number) => {
      const thinking = 'x'.repeat(characters);
      const output = [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thinking }] }];
      const content = [{ type: 'thinking', thinking, signature: 's' }];
      const usage = { input_tokens: 1, output_tokens: 1 };
      const answer = jsonAnswer({
        id: 'a',
        type: 'message',
        role: 'assistant',
        output,
        content,
        stop_reason: 'end_turn',
        usage,
      });
      return turnsOf(async () => {
        const { outcome } = await ask({ api, interfaceId, answer, body: { input: 'a' } });
        expect(outcome.kind === 'json' && outcome.answer.text.includes(thinking)).toBe(true);
      });
    };
    const piece = 1024 * 1024;
    // An answer of Responses is also parsed in steps, before it is written.
    const turnsMin = api === 'responses' ? 10 : 6;
    expect((await turnsWith(4 * piece)) - (await turnsWith(piece))).toBeGreaterThan(turnsMin);
  },
);

describe('a whole answer of ten thousand calls', () => {
  const calls = 10_000;
  const eachCall = <One>(make: (index: number) => One) => Array.from({ length: calls }, (_one, index) => make(index));
  const answers = {
    'generate-content': {
      candidates: [
        {
          content: { role: 'model', parts: eachCall((i) => ({ functionCall: { name: 'f', args: { i } } })) },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 },
    },
    responses: {
      id: 'resp_1',
      model: 'm',
      output: eachCall((i) => ({
        type: 'function_call',
        id: `fc_${i}`,
        call_id: `c${i}`,
        name: 'f',
        arguments: `{"i":${i}}`,
      })),
      usage: { input_tokens: 7, output_tokens: 1, total_tokens: 8 },
    },
  };

  it.each(['generate-content', 'responses'] as const)(
    'of %s is read in pieces, each in a turn of its own, and is one answer of one call: in order, with its end and its usage',
    async (api) => {
      const pendingCall = ask({ api, answer: jsonAnswer(answers[api]), body: {} });
      const turns = await turnsOf(() => pendingCall);
      const { outcome, requests } = await pendingCall;
      const { choices, usage } = completionOf(outcome);
      const toolCalls: { id: string; function: { arguments: string } }[] = choices[0].message.tool_calls;
      expect(toolCalls.map((call) => JSON.parse(call.function.arguments).i)).toEqual(eachCall((i) => i));
      expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(calls);
      expect([choices[0].finish_reason, usage.prompt_tokens, requests.length]).toEqual(['tool_calls', 7, 1]);
      expect(turns).toBeGreaterThan(calls / partsAtOnceMax);
    },
  );
});

it('events of a relayed stream that come at once are read and passed on in turns, each whole, and few of them as they came', async () => {
  const text = JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [] });
  const readOf = async (count: number) => {
    async function* body() {
      yield Buffer.from(`data: ${text}\n\n`.repeat(count));
    }
    const source = { describe: () => undefined, onEvent: () => {}, onEnd: () => {} };
    const events = readEvents(body(), upstreamEventMaxBytes);
    const batches: (readonly [turn: number, texts: readonly string[]])[] = [];
    await inTurns(async (turn) => {
      for await (const batch of readStream(events, chatCompletions.openEventReader(1), source)) {
        if (batch.failure === undefined) batches.push([turn(), batch.events.map((event) => event.text)]);
      }
    });
    expect(batches.flatMap(([, texts]) => texts)).toEqual(Array(count).fill(text));
    return batches;
  };
  const batches = await readOf(5_000);
  expect(Math.max(...batches.map(([, texts]) => texts.length))).toBe(inOneTurn.events);
  expect(new Set(batches.map(([turn]) => turn)).size).toBe(batches.length);
  expect(await readOf(50)).toHaveLength(1);
});

// Gemini's package gets large events in pieces, because a whole one would block the process for too long.
describe('of Gemini', () => {
  async function* bytesOf(...events: readonly unknown[]): AsyncGenerator<Uint8Array> {
    yield Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  }

  async function piecesOf(...events: readonly unknown[]) {
    const pieces: string[] = [];
    const { turns } = await inTurns(async () => {
      for await (const bytes of geminiEvents(bytesOf(...events), (text) => text)) {
        pieces.push(...Buffer.from(bytes).toString('utf8').split('\n\n').filter(Boolean));
      }
    });
    return { pieces: pieces.map((piece) => JSON.parse(piece.slice('data: '.length))), turns };
  }

  const partsOf = (count: number) =>
    Array.from({ length: count }, (_one, i) => ({
      functionCall: { name: 'read_the_file', args: { i, path: '/a/b/c' } },
    }));
  const eventOf = (parts: unknown, more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', safetyRatings: [], ...more }],
    usageMetadata: { promptTokenCount: 1 },
    responseId: 'r',
  });

  describe('an event of many parts', () => {
    it('is given in pieces of a few hundred, each in a turn of its own, its end and its usage with the last', async () => {
      const parts = partsOf(10_000);
      const { pieces, turns } = await piecesOf(eventOf(parts));
      const [head, ...others] = pieces;
      expect(head).toEqual({ responseId: 'r' });
      const partLists = others.map(({ candidates: [{ content }] }) => content.parts);
      expect(partLists.flat()).toEqual(parts);
      expect(Math.max(...partLists.map((some) => some.length))).toBe(partsAtOnceMax);
      expect(turns).toBeGreaterThanOrEqual(pieces.length);
      expect(others.pop()).toEqual(eventOf(partLists.at(-1)));
      for (const piece of others) expect(Object.keys(piece.candidates[0])).toEqual(['content']);
    });

    it.each([
      ['as many parts as are read at once', eventOf(partsOf(partsAtOnceMax))],
      ['one long part', eventOf([{ text: 'x'.repeat(100_000) }])],
      ['no list of parts', eventOf('x'.repeat(100_000))],
      ['no candidate', { candidates: [], error: 'x'.repeat(100_000) }],
      ['more values than an answer may hold', eventOf(partsOf(20_001))],
    ])('stays as it is with %s', async (_what, event) => {
      expect((await piecesOf(event)).pieces).toEqual([event]);
    });
  });
});
