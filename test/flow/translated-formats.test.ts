// A chat completion at providers that speak another format: what no table of features says.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import type { Route } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { contentOf, readStream } from '../support/read-stream.ts';

const apis = ['messages', 'responses', 'converse', 'generate-content'] as const;
type Api = (typeof apis)[number];

/** Each in another way, before the first output. */
const failing = {
  'chat-completions': 'error-after-role',
  messages: 'cut:0',
  responses: 'error-after-role',
  converse: 'garbage:0',
  'generate-content': 'error-500',
};
const formats = Object.keys(failing);

/** Models that think. */
const families: Readonly<Record<Api, string>> = {
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  converse: 'anthropic.claude-sonnet-4-5-20250929-v1',
  'generate-content': 'gemini-3-pro-preview',
};
const unreadableUsages = [
  'no-usage',
  ...['strings', 'nulls', 'text', 'negative', 'fractions'].map((kind) => `wrong-usage:${kind}`),
];
const upstreams = ['echo', ...unreadableUsages];
/** All orders of a list. */
const ordersOf = <T>(list: readonly T[]): readonly (readonly T[])[] =>
  list.length < 2
    ? [list]
    : list.flatMap((first) => ordersOf(list.filter((one) => one !== first)).map((rest) => [first, ...rest]));

const modelOf = (api: Api, upstream: string) => `${api}/${upstream.replaceAll(':', '-')}`;

let gateway: Harness;
beforeAll(async () => {
  const routesOf = (api: Api) =>
    [...upstreams, `${families[api]}/redacted-reasoning`].map(
      (upstream) => [modelOf(api, upstream), [{ provider: api, upstream }]] as const,
    );
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
    },
    providers: {
      ...Object.fromEntries(apis.map((api) => [api, { apis: [api] }])),
      both: { apis: ['messages', 'chat-completions'] },
    },
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into member by member.
const answerOf = async (response: Response): Promise<any> => {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text);
};
const post = (api: Api, upstream: string, more: Record<string, unknown> = {}) =>
  gateway.post(hello(modelOf(api, upstream), more));
const called = () => gateway.simulator.calls.map(({ provider, format }) => `${provider} ${format}`);

describe.each(apis)('a provider of %s', (api) => {
  it.each(unreadableUsages)('is estimated where it reports nothing, or nothing that counts: %s', async (upstream) => {
    const { lines } = await readStream(
      await post(api, upstream, { stream: true, stream_options: { include_usage: true } }),
    );
    expect(JSON.parse(lines.at(-1) ?? '').usage.estimated).toBe(true);
    const { usage } = await answerOf(await post(api, upstream));
    expect(usage.estimated).toBe(true);
    expect(usage.cost).toBeGreaterThan(0);
  });

  it('gives no reasoning where it is excluded, and no chunk that would be empty', async () => {
    const asked = { reasoning: { effort: 'high', exclude: true }, max_tokens: 4_000 };
    const upstream = `${families[api]}/redacted-reasoning`;
    const { choices, usage } = await answerOf(await post(api, upstream, asked));
    expect(Object.keys(choices[0].message).sort()).toEqual(['content', 'refusal', 'role']);
    expect(usage.completion_tokens).toBeGreaterThan(0);
    const { lines } = await readStream(await post(api, upstream, { ...asked, stream: true }));
    // Nor a usage chunk that was not asked for.
    const deltas = lines.map((line) => JSON.parse(line).choices[0].delta);
    expect(deltas.flatMap((delta) => Object.keys(delta)).filter((name) => /reasoning/.test(name))).toEqual([]);
    expect(deltas.slice(1, -1).filter((delta) => Object.keys(delta).length === 0)).toEqual([]);
    expect(contentOf(lines)).toBe(choices[0].message.content);
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
