// Rules of Moderations alone: texts, parts with images, and a model that most clients do not name.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { fieldsNamed, literalsOf } from '../support/installed-types.ts';
import { png } from '../support/png.ts';

type Json = Record<string, unknown>;

let gateway: Harness;
beforeAll(async () => {
  const more = { max_output_tokens: 1, supported_params: {} };
  gateway = await startHarness({
    speaks: { api: 'moderations', path: '/moderations' },
    models: {
      'acme/omni-moderation-latest': [{ provider: 'acme', upstream: 'omni-moderation-latest', more }],
      'acme/short': [{ provider: 'acme', upstream: 'echo', more: { ...more, context_length: 40 } }],
    },
  });
});
afterAll(() => gateway.stop());

const post = (body: Json) => gateway.post({ model: 'acme/short', ...body }, { 'x-gw-error-format': 'openai' });
const dataUrl = png(600, 400);

it('a moderation judges each text by itself, and parts all together', async () => {
  const texts = (await (await post({ input: ['I hate it', 'Hello'] })).json()) as { results: { flagged: boolean }[] };
  expect(texts.results.map(({ flagged }) => flagged)).toEqual([true, false]);
  const parts = [
    { type: 'text', text: 'violence' },
    { type: 'image_url', image_url: { url: dataUrl } },
  ];
  const together = (await (await post({ input: parts })).json()) as { results: Json[] };
  expect(together.results).toMatchObject([
    { flagged: true, category_applied_input_types: { violence: ['text', 'image'] } },
  ]);
});

it('a moderation without a model means the model that OpenAI means, and is refused if the gateway has none', async () => {
  const answer = await gateway.post({ input: 'Hello' });
  expect([answer.status, answer.headers.get('x-gw-model')]).toEqual([200, 'acme/omni-moderation-latest']);
  const response = await gateway.post({ input: 'Hello', models: ['acme/short'] });
  expect(response.headers.get('x-gw-model')).toBe('acme/short');
});

it('a moderation reserves and charges no byte of an image, and each text within a context of its own', async () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(200_000)}` } };
  const response = await post({ input: [image] });
  expect(response.status).toBe(200);
  const last = await gateway.recordOf(response);
  expect(last).toMatchObject({ estimated: true, completionTokens: 0 });
  expect(last?.promptTokens).toBeLessThanOrEqual(40);
  const texts = await post({ input: new Array(30).fill('one two three four') });
  const many = await gateway.recordOf(texts);
  expect(many?.promptTokens).toBeGreaterThan(100);
  expect(gateway.logLines.filter((line) => line.includes('charge_over_hold'))).toEqual([]);
});

it.each<[string, Json, string]>([
  ['no input', {}, 'input'],
  ['an empty list', { input: [] }, 'input'],
  ['a number', { input: 7 }, 'input'],
  ['a list with a number', { input: ['a', 7] }, 'input[1]'],
  ['a part without a type', { input: [{ text: 'a' }] }, 'input[0].type'],
  ['a part whose text is none', { input: [{ type: 'text', text: 7 }] }, 'input[0].text'],
  ['an image without an address', { input: [{ type: 'image_url', image_url: {} }] }, 'input[0].image_url.url'],
  ['input that stands twice in a part', { input: [{ type: 'text', text: 'a', image_url: 'b' }] }, 'input[0].image_url'],
])('the gateway refuses %s before a provider is called', async (_what, body, param) => {
  gateway.simulator.clear();
  const response = await post(body);
  expect([response.status, ((await response.json()) as { error: Json }).error]).toMatchObject([
    400,
    { code: 'invalid_request', param },
  ]);
  expect(gateway.simulator.calls).toEqual([]);
});

describe('what is read of a request', () => {
  it('is what OpenAI’s own types know, no more and no less', () => {
    const imports = "import type { ModerationCreateParams, ModerationMultiModalInput } from 'openai/resources';";
    const types = { body: 'ModerationCreateParams', parts: "ModerationMultiModalInput['type']" };
    expect(literalsOf(imports, { parts: types.parts })).toEqual({ parts: ['image_url', 'text'] });
    const names = fieldsNamed(imports, { body: types.body }, /./).body?.map((way) =>
      way.map(({ name, isList }) => name + (isList ? '[]' : '')).join('.'),
    );
    const fields = new Set(names?.filter((name) => !/string|\[\]\.(?!type|text|image_url)/.test(name)));
    expect([...fields].toSorted()).toEqual([
      'input',
      'input[].image_url',
      'input[].image_url.url',
      'input[].text',
      'input[].type',
      'model',
    ]);
  });
});
