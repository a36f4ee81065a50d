// A chat completion at providers that speak another format: what a client gets, what is charged, and how failures end.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import type { Route } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { readChunks } from '../support/read-chunks.ts';
import { contentOf, readStream } from '../support/read-stream.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

const apis = ['messages', 'responses', 'converse', 'generate-content'] as const;
type Api = (typeof apis)[number];

/** What breaks a stream after its first output, and a JSON answer too. */
const breaking = ['cut:3', 'cut-clean:3', 'garbage:2', 'error-after-chunks:2'];
/** Each in another way, before the first output. */
const failing = {
  'chat-completions': 'error-after-role',
  messages: 'cut:0',
  responses: 'error-after-role',
  converse: 'garbage:0',
  'generate-content': 'error-500',
};
const formats = Object.keys(failing);

/** Models whose thinking is signed, and asked for when their calls come back. */
const families: Readonly<Record<string, string>> = {
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  converse: 'anthropic.claude-sonnet-4-5-20250929-v1',
  'generate-content': 'gemini-3-pro-preview',
};
/** Who can read what is signed. Undefined: nobody else's. */
const makers: Readonly<Record<string, string>> = {
  messages: 'Anthropic',
  responses: 'OpenAI',
  converse: 'Anthropic',
  'generate-content': 'Google',
};
const toolBehaviours = ['tools', 'reasoning', 'redacted-reasoning'];
const thinking = { reasoning: { effort: 'high' } };

const upstreams = [
  'echo',
  'usage:1000:500:300:120:200:80',
  'no-usage',
  'wrong-usage:strings',
  'wrong-usage:nulls',
  'no-done',
  'byte-split:5',
  ...breaking,
  'error-200',
  'error-429:rate_limit_exceeded:7',
  'error-500',
  'error-401',
  'error-400:context_length_exceeded',
  'error-leak',
  'blocked-prompt',
  'refusal',
  'content-filter',
  'flaky:1',
];
/** All orders of a list. */
const ordersOf = <T>(list: readonly T[]): readonly (readonly T[])[] =>
  list.length < 2
    ? [list]
    : list.flatMap((first) => ordersOf(list.filter((one) => one !== first)).map((rest) => [first, ...rest]));

const prices = {
  cached_input_price_per_million: '0.10',
  cache_write_input_price_per_million: '1.25',
  cache_write_1h_input_price_per_million: '2.00',
};
const modelOf = (api: Api, upstream: string) => `${api}/${upstream.replaceAll(':', '-')}`;

let gateway: Harness;
let scripted: ScriptedProvider;
/** What the scripted provider answers with. */
let events: readonly object[] = [];
beforeAll(async () => {
  scripted = await startScriptedProvider((outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  const backup: Route = { provider: 'chat-completions', upstream: 'echo', more: { input_price_per_million: '99' } };
  const routesOf = (api: Api) =>
    [...upstreams, ...toolBehaviours.map((behaviour) => `${families[api]}/${behaviour}`)].map((upstream) => {
      const route = { provider: api, upstream, more: prices };
      return [modelOf(api, upstream), breaking.includes(upstream) ? [route, backup] : [route]] as const;
    });
  const failingBut = (last: string): Route[] =>
    Object.entries(failing).map(([provider, upstream]) => ({
      provider,
      upstream: provider === last ? 'echo' : upstream,
    }));
  gateway = await startHarness({
    models: {
      ...Object.fromEntries(apis.flatMap(routesOf)),
      ...Object.fromEntries(formats.map((format) => [`only/${format}`, failingBut(format)])),
      'both/model': [{ provider: 'both', upstream: 'echo' }],
      'scripted/gemini': [{ provider: 'scripted', upstream: 'gemini' }],
      ...Object.fromEntries(
        formats.map((format) => [
          `on/${format}`,
          [{ provider: format, upstream: `${families[format] ?? 'gpt'}/echo` }],
        ]),
      ),
    },
    providers: {
      ...Object.fromEntries(apis.map((api) => [api, { apis: [api] }])),
      both: { apis: ['messages', 'chat-completions'] },
      scripted: { base_url: scripted.url, apis: ['generate-content'] },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await scripted.stop();
});
beforeEach(() => gateway.simulator.clear());

// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into member by member.
const answerOf = async (response: Response): Promise<any> => {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text);
};
// biome-ignore lint/suspicious/noExplicitAny: as above.
const argumentsIn = ({ tool_calls: calls }: any): string[] => calls.map((one: any) => one.function.arguments);
// biome-ignore lint/suspicious/noExplicitAny: as above.
const signedIn = ({ reasoning_details: details = [] }: any): string[] =>
  details.flatMap(({ signature, data }: Record<string, string>) => [signature ?? data ?? []].flat());
const post = (api: Api, upstream: string, more: Record<string, unknown> = {}) =>
  gateway.post(hello(modelOf(api, upstream), more));
const called = () => gateway.simulator.calls.map(({ provider, format }) => `${provider} ${format}`);

const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

describe.each(apis)('a provider of %s', (api) => {
  it('answers, whole and streamed, and is paid', async () => {
    const answer = await answerOf(await post(api, 'echo'));
    expect(answer).toMatchObject({ object: 'chat.completion', choices: [{ finish_reason: 'stop' }] });
    expect(answer.usage).toMatchObject({ provider: api, attempts: 1 });
    expect(answer.usage.cost).toBeGreaterThan(0);
    const { lines } = await readStream(
      await post(api, 'echo', { stream: true, stream_options: { include_usage: true } }),
    );
    expect(contentOf(lines)).toBe(answer.choices[0].message.content);
    expect(JSON.parse(lines.at(-1) ?? '').usage.completion_tokens).toBe(answer.usage.completion_tokens);
    // No usage chunk for a client that did not ask.
    const plain = await readStream(await post(api, 'echo', { stream: true }));
    expect(plain.text).not.toContain('usage');
    expect(called()).toEqual(Array(3).fill(`${api} ${api}`));
    await gateway.settled();
    expect((await gateway.credit()).held).toBe(0n);
  });

  it.each([false, true])(
    'is paid to the token, what its cache gave and took at their prices; stream %s',
    async (stream) => {
      const spent = (await gateway.credit()).spent;
      const response = await post(api, 'usage:1000:500:300:120:200:80', { max_tokens: 600, stream });
      await response.text();
      await gateway.settled();
      // Gemini and OpenAI write no cache that they bill: all that was not read from one is input.
      const usd = ['generate-content', 'responses'].includes(api) ? 1_730n : 1_860n;
      const after = await gateway.credit();
      expect([after.spent - spent, after.held]).toEqual([usd * 1_000_000n, 0n]);
    },
  );

  it.each(['no-usage', 'wrong-usage:strings', 'wrong-usage:nulls'])(
    'is estimated where it reports nothing, or nothing that counts: %s',
    async (upstream) => {
      const { lines } = await readStream(
        await post(api, upstream, { stream: true, stream_options: { include_usage: true } }),
      );
      expect(JSON.parse(lines.at(-1) ?? '').usage.estimated).toBe(true);
      const { usage } = await answerOf(await post(api, upstream));
      expect(usage.estimated).toBe(true);
      expect(usage.cost).toBeGreaterThan(0);
    },
  );

  it.each(toolBehaviours)(
    '%s: calls tools in parallel, streamed too, and goes on with results and thinking, also in another format',
    async (behaviour) => {
      const asked = { tools: [weather], max_tokens: 4_000, ...(behaviour === 'tools' ? {} : thinking) };
      const question = [{ role: 'user', content: 'The weather?' }];
      const upstream = `${families[api]}/${behaviour}`;
      const whole = (await answerOf(await post(api, upstream, { ...asked, messages: question }))).choices[0];
      const stream = await post(api, upstream, { ...asked, messages: question, stream: true });
      const streamed = readChunks((await readStream(stream)).lines);
      expect([whole.finish_reason, streamed.finishReason]).toEqual(['tool_calls', 'tool_calls']);
      expect(argumentsIn(whole.message)).toHaveLength(2);
      expect(argumentsIn(streamed.message)).toEqual(argumentsIn(whole.message));
      expect(streamed.message.reasoning).toBe(whole.message.reasoning ?? '');
      for (const message of [whole.message, streamed.message]) {
        const results = message.tool_calls.map(({ id }: { id: string }) => ({
          role: 'tool',
          tool_call_id: id,
          content: 'Sun.',
        }));
        for (const format of formats) {
          gateway.simulator.clear();
          const next = await gateway.post(
            hello(`on/${format}`, { ...asked, messages: [...question, message, ...results] }),
          );
          expect((await answerOf(next)).choices[0].message.content).toContain('The tools answered “Sun.” and “Sun.”');
          // What OpenAI encrypts only the same model can read.
          const isReadable = makers[format] === makers[api] && api !== 'responses';
          const sent = gateway.simulator.calls[0]?.bodyText;
          for (const signed of signedIn(message))
            expect([format, sent?.includes(signed)]).toEqual([format, isReadable]);
        }
      }
      const isSigned = behaviour !== 'tools' || api === 'generate-content';
      expect([api, signedIn(whole.message).length > 0]).toEqual([api, isSigned]);
    },
  );

  it('gives no reasoning where it is excluded, and no chunk that would be empty', async () => {
    const asked = { reasoning: { effort: 'high', exclude: true }, max_tokens: 4_000 };
    const upstream = `${families[api]}/redacted-reasoning`;
    const { choices, usage } = await answerOf(await post(api, upstream, asked));
    expect(Object.keys(choices[0].message).sort()).toEqual(['content', 'refusal', 'role']);
    expect(usage.completion_tokens).toBeGreaterThan(0);
    const { lines } = await readStream(await post(api, upstream, { ...asked, stream: true }));
    const deltas = lines.map((line) => JSON.parse(line).choices[0].delta);
    expect(deltas.flatMap((delta) => Object.keys(delta)).filter((name) => /reasoning/.test(name))).toEqual([]);
    expect(deltas.slice(1, -1).filter((delta) => Object.keys(delta).length === 0)).toEqual([]);
    expect(contentOf(lines)).toBe(choices[0].message.content);
  });

  it('is not called again for what the cache holds: the same bytes, whole and streamed', async () => {
    for (const stream of [false, true]) {
      gateway.simulator.clear();
      const ask = () => post(api, 'echo', { stream, cache: { namespace: `of-${api}` } });
      const first = await (await ask()).text();
      await gateway.settled();
      const again = await ask();
      expect(again.headers.get('x-gw-cache')).toBe('HIT');
      const text = await again.text();
      // Of a whole answer the cost is another: nothing.
      expect(stream ? text : JSON.parse(text).choices).toEqual(stream ? first : JSON.parse(first).choices);
      expect(called()).toHaveLength(1);
    }
  });

  it('is read however its bytes come', async () => {
    const whole = await answerOf(await post(api, 'byte-split:5'));
    const { lines } = await readStream(await post(api, 'byte-split:5', { stream: true }));
    expect(contentOf(lines)).toContain('👩‍🚀');
    expect(contentOf(lines)).toBe(whole.choices[0].message.content);
  });

  it.each(breaking)(
    'that breaks after its first output ends with an error line, and no other provider is called: %s',
    async (upstream) => {
      const lines = dataLines(await (await post(api, upstream, { stream: true })).text());
      expect(contentOf(lines.slice(0, -2)).length).toBeGreaterThan(0);
      expect(JSON.parse(lines.at(-2) ?? '')).toMatchObject({ error: { code: 'no_available_provider' } });
      expect(lines.at(-1)).toBe('[DONE]');
      expect(called()).toEqual([`${api} ${api}`]);
      // Nothing of a JSON answer has gone out by then.
      expect((await answerOf(await post(api, upstream))).usage).toMatchObject({ provider: 'chat-completions' });
    },
  );

  it.each([
    ['error-429:rate_limit_exceeded:7', 429, 'rate_limited', undefined],
    ['error-500', 502, 'no_available_provider', undefined],
    ['error-401', 502, 'no_available_provider', undefined],
    // How each refuses a credential, whatever status it has for that.
    ['error-leak', 502, 'no_available_provider', undefined],
    ['error-400:context_length_exceeded', 400, 'invalid_request', 'context_length_exceeded'],
    ['blocked-prompt', 400, 'invalid_request', 'content_policy_violation'],
  ])('that fails is told as ever: %s', async (upstream, status, code, reason) => {
    for (const stream of [false, true]) {
      await expectError(await post(api, upstream, { stream }), status, code, reason === undefined ? {} : { reason });
    }
    await gateway.settled();
    expect((await gateway.credit()).held).toBe(0n);
  });
});

it('what a format cannot say is told in a few words, however often a request asks for it', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
  const content = Array.from({ length: 20_000 }, (_one, index) => (index === 0 ? image : { type: 'hologram' }));
  const { message } = await expectError(
    await post('converse', 'echo', { messages: [{ role: 'user', content }] }),
    400,
    'feature_unsupported',
  );
  expect(message).toContain('image_url (messages[0].content[0]), content_part (messages[0].content[1]).');
});

it('providers of all formats stand in for each other, in any order, as long as there is no output', async () => {
  const others = formats.filter((format) => format !== 'responses');
  for (const [place, rest] of ordersOf(others).entries()) {
    const order = rest.toSpliced(place % formats.length, 0, 'responses');
    gateway.simulator.clear();
    const stream = place % 2 === 0;
    const only = `only/${order.at(-1)}`;
    const response = await gateway.post(hello(only, { stream, provider: { order }, usage: { include: true } }));
    const text = await response.text();
    expect([response.status, text.includes('"error"'), /"attempts":(\d)/.exec(text)?.[1]]).toEqual([200, false, '5']);
    expect(text).toMatch(stream ? /data: \[DONE\]\n\n$/ : /^\{/);
    expect(called()).toEqual(order.map((format) => `${format} ${format}`));
  }
});

it('a provider that speaks chat completions too is not translated', async () => {
  await answerOf(await gateway.post(hello('both/model')));
  expect(called()).toEqual(['both chat-completions']);
});

it('an event of hundreds of parts, which is read in pieces, becomes the answer that its parts become one by one', async () => {
  const parts = [
    { text: 'Let me see', thought: true },
    { text: 'I ask all of them.', thoughtSignature: 'c2lnbmVkIHRleHQ=' },
    ...Array.from({ length: 700 }, (_one, id) => ({
      functionCall: { id: `call-${id}`, name: 'weather', ...(id % 3 === 0 ? {} : { args: { city: `Rome ${id}` } }) },
      ...(id % 2 === 0 ? {} : { thoughtSignature: Buffer.from(`signed ${id}`).toString('base64') }),
    })),
    { text: 'All are asked.' },
  ];
  const ends = {
    finishReason: 'STOP',
    usageMetadata: { promptTokenCount: 900, candidatesTokenCount: 800, totalTokenCount: 1_700 },
  };
  const eventOf = (some: readonly object[], { finishReason, ...usage }: Partial<typeof ends>) => ({
    candidates: [{ content: { role: 'model', parts: some }, finishReason, index: 0 }],
    ...usage,
    modelVersion: 'gemini',
    responseId: 'response-1',
  });
  const read = async (sent: readonly object[]) => {
    events = sent;
    const { spent } = await gateway.credit();
    const asked = { stream: true, stream_options: { include_usage: true }, tools: [weather], max_tokens: 2_000 };
    const { lines } = await readStream(await gateway.post(hello('scripted/gemini', asked)));
    await gateway.settled();
    const credit = await gateway.credit();
    return { ...readChunks(lines), charged: credit.spent - spent, held: credit.held };
  };
  const known = await read(parts.map((part, place) => eventOf([part], place === parts.length - 1 ? ends : {})));
  const inPieces = await read([eventOf(parts, ends)]);
  const calls = inPieces.message.tool_calls;
  expect(calls.map(({ function: { arguments: text } }: { function: { arguments: string } }) => text)).toEqual(
    Array.from({ length: 700 }, (_one, id) => (id % 3 === 0 ? '{}' : `{"city":"Rome ${id}"}`)),
  );
  expect(new Set(calls.map(({ id }: { id: string }) => id)).size).toBe(700);
  expect([inPieces.finishReason, inPieces.held]).toEqual(['tool_calls', 0n]);
  expect(inPieces).toEqual(known);
});
