// Requests that every provider rejects: the client gets the providers' messages, with which it can repair the request.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type ErrorBody, expectError } from '../support/expect-error.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { type SpokenInterface, spokenInterfaces } from '../support/spoken-interfaces.ts';

interface Refusal {
  readonly status?: number;
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
}

const refusals: Refusal[] = [];
let providers: readonly ScriptedProvider[];
let gateway: Harness;

beforeAll(async () => {
  providers = await Promise.all(
    [0, 1].map((place) =>
      startScriptedProvider((outgoing) => {
        const { status = 400, ...error } = refusals[place] as Refusal;
        outgoing.writeHead(status, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', ...error } }));
      }),
    ),
  );
  const interfaces = spokenInterfaces.map(({ api }) => api);
  const models = interfaces.flatMap((api) => [
    [`one/${api}`, [{ provider: `first-${api}`, upstream: 'any' }]],
    [
      `both/${api}`,
      [
        { provider: `first-${api}`, upstream: 'any' },
        { provider: `second-${api}`, upstream: 'any', more: { output_price_per_million: '99' } },
      ],
    ],
  ]);
  const entries = interfaces.flatMap((api) =>
    ['first', 'second'].map((name, place) => [
      `${name}-${api}`,
      { base_url: providers[place]?.url, apis: [api], data_policy: { zdr: true } },
    ]),
  );
  gateway = await startHarness({ models: Object.fromEntries(models), providers: Object.fromEntries(entries) });
});
afterAll(async () => {
  await gateway.stop();
  for (const provider of providers) await provider.stop();
});

async function ask(
  { path, hello, api }: SpokenInterface,
  refusalList: readonly Refusal[],
  more: object = {},
  headers = {},
) {
  refusals.splice(0, 2, ...refusalList);
  return gateway.postTo(path, { ...hello(`${refusalList.length === 1 ? 'one' : 'both'}/${api}`), ...more }, headers);
}

const expectRefusal = async (response: Promise<Response>, reason?: string): Promise<ErrorBody> =>
  expectError(await response, 400, 'invalid_request', reason === undefined ? {} : { reason });

const [chat, messages, responses] = spokenInterfaces as [SpokenInterface, SpokenInterface, SpokenInterface];
const useOther =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";

describe('a request that every provider rejects', () => {
  it.each([chat, responses])('ends its message with what the provider said: $name', async (clientInterface) => {
    for (const stream of [false, true]) {
      const { message } = await expectRefusal(
        ask(clientInterface, [{ message: useOther }], { stream }),
        'unsupported_parameter',
      );
      expect(message).toBe(
        `Every provider rejected the request (unsupported_parameter). The provider said: ${useOther}`,
      );
    }
  });

  it('says in one line of at most 400 characters what the first said that said anything, even if they disagree', async () => {
    const first = { message: `temperature: ${'never\n'.repeat(200)}`, code: 'x' };
    const second = { message: 'It is too hot.', param: 'messages' };
    const { message } = await expectRefusal(ask(chat, [first, second], { temperature: 7 }));
    const words = message.split('The provider said: ')[1] ?? '';
    expect(words).toMatch(/^temperature: never never .*…$/);
    expect(words).toHaveLength(400);
    expect((await expectRefusal(ask(chat, [{ message: '' }, second]))).message).toMatch(/said: It is too hot\.$/);
    expect((await expectRefusal(ask(chat, [{ message: '' }, { message: '' }]))).message).toBe(
      'Every provider rejected the request.',
    );
  });

  it('names as `param` the field that the provider named whose words it repeats, if the request has it', async () => {
    const paramOf = async (refusals: readonly Refusal[]) => {
      const response = await ask(chat, refusals, { temperature: 7 }, { 'x-gw-error-format': 'openai' });
      return ((await response.json()) as { error: { param: unknown } }).error.param;
    };
    expect(await paramOf([{ message: 'Too hot', param: 'temperature' }, { message: 'No.' }])).toBe('temperature');
    expect(await paramOf([{ message: 'No.' }, { message: 'Too hot', param: 'temperature' }])).toBeNull();
    expect(await paramOf([{ message: 'No such', param: 'top_k' }])).toBeNull();
    expect(await paramOf([{ message: 'messages.0.role: Input should be a word' }])).toBe('messages.0.role');
  });

  it('still says the limit of the context in the words that agents look for, before those of the provider', async () => {
    const providerMessage = 'prompt is too long: 210000 tokens > 200000 maximum';
    const { message } = await expectRefusal(ask(chat, [{ message: providerMessage }]), 'context_length_exceeded');
    expect(message).toMatch(
      /^This model's maximum context length is \d+ tokens \(context_length_exceeded\)\. The provider said: prompt is too long: 210000 tokens > 200000 maximum$/,
    );
  });

  it.each([
    ['messages.1.content.0: Invalid `signature` in `thinking` block', undefined],
    ['messages.0.content.1.image.source.base64.data: Could not process image', 'invalid_image'],
    ['adaptive thinking is not supported on this model', undefined],
    [
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
      'context_length_exceeded',
    ],
    ['prompt is too long: 210000 tokens > 200000 maximum', 'context_length_exceeded'],
    ['tool_use ids were found without tool_result blocks: toolu_01A09q90qw90lq917835lq9', undefined],
  ])('is reported on Messages in the words of the provider and no others: %s', async (message, reason) => {
    for (const stream of [false, true]) {
      const response = ask(messages, [{ message }, { message: 'Never.' }], { stream });
      expect((await expectRefusal(response)).message).toBe(message);
    }
    expect((await expectRefusal(ask(messages, [{ message }]), reason)).message).toBe(message);
  });

  const tooLong = (tokens: number, limit: number) => `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  it.each([
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,555 tokens.",
      tooLong(130_555, 128_000),
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8000 in the messages, 1001 in the completion).",
      'input length and `max_tokens` exceed context limit: 8000 + 1001 > 8192, decrease input length or `max_tokens` and try again',
    ],
    [
      "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 3000 input tokens (2000 > 4096 - 3000).",
      'input length and `max_tokens` exceed context limit: 3000 + 2000 > 4096, decrease input length or `max_tokens` and try again',
    ],
    ['The input token count (9001) exceeds the maximum number of tokens allowed (8192).', tooLong(9_001, 8_192)],
    ['Input is too long for requested model.', tooLong(128_001, 128_000)],
    ['Your input exceeds the context window of this model. See gpt-5-0613.', tooLong(128_001, 128_000)],
    ['Invalid image data in message 3', 'Could not process image: Invalid image data in message 3'],
  ])(
    'is reported on Messages in the words of that interface if a provider means the same: %s',
    async (message, text) => {
      for (const stream of [false, true]) {
        const reason = text.startsWith('Could not') ? 'invalid_image' : 'context_length_exceeded';
        expect((await expectRefusal(ask(messages, [{ message }], { stream }), reason)).message).toBe(text);
      }
    },
  );

  it('is reported on Messages in one line of at most 2,000 characters', async () => {
    const lines = 'messages.0: wrong\n\tsecond line\r\nthird';
    for (const stream of [false, true]) {
      expect((await expectRefusal(ask(messages, [{ message: lines }], { stream }))).message).toBe(
        'messages.0: wrong second line third',
      );
    }
    const { message } = await expectRefusal(
      ask(messages, [{ message: `Could not process image ${'never\n'.repeat(900)}` }]),
      'invalid_image',
    );
    expect(message).toMatch(/^Could not process image never never [^\n]*$/);
    expect(message.length).toBeGreaterThan(1_900);
    expect(message.length).toBeLessThanOrEqual(2_000);
  });

  it("is reported on Messages in the words for an image if only OpenAI's code names its format", async () => {
    const error = { message: 'The file is of a form that is not taken.', code: 'invalid_image_format' };
    for (const stream of [false, true]) {
      const { message } = await expectRefusal(ask(messages, [error], { stream }), 'unsupported_image_format');
      expect(message).toBe(`Could not process image: ${error.message}`);
    }
  });

  it('is reported on Messages with the length of a prompt of images, if the provider gave no figure', async () => {
    const [, data] = png(1_400, 1_400).split(',');
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    const images = { messages: [{ role: 'user', content: new Array(100).fill(image) }] };
    const response = ask(messages, [{ message: 'Input is too long for requested model.' }], images);
    const { message } = await expectRefusal(response, 'context_length_exceeded');
    const [, tokens] = /^prompt is too long: (\d+) tokens > 128000 maximum$/.exec(message) ?? [];
    // Each image has 50 by 50 patches; the text around each is less than 100 bytes.
    expect(Number(tokens)).toBeGreaterThanOrEqual(100 * 2_500);
    expect(Number(tokens)).toBeLessThan(100 * (2_500 + 25));
  });

  it.each([401, 403, 404, 429, 500])('says nothing of a provider that fails with %i', async (status) => {
    for (const clientInterface of spokenInterfaces) {
      const response = await ask(clientInterface, [{ status, message: 'Words of the provider' }]);
      expect(response.status).toBeGreaterThan(400);
      expect(await response.text()).not.toContain('Words');
    }
  });

  it('leaves the words in its record, unless no provider may keep anything of the call', async () => {
    const recorded = async (zdr: boolean) => {
      const { correlation_id: id } = await expectRefusal(
        ask(chat, [{ message: 'Words of it' }], { provider: { zdr } }),
      );
      await gateway.settled();
      return (await gateway.records()).find(({ correlationId }) => correlationId === id)?.errorMessage;
    };
    expect(await recorded(true)).toBe('Every provider rejected the request.');
    expect(await recorded(false)).toContain('Words of it');
  });

  it("is not the client's fault if the account of the gateway has reached its limit", async () => {
    const message = 'You have reached your specified API usage limits. You will regain access on 2026-12-01.';
    for (const clientInterface of spokenInterfaces) {
      const response = await ask(clientInterface, [{ message }]);
      expect(response.headers.get('x-should-retry')).toBe('false');
      const error = await expectError(response, 502, 'no_available_provider');
      expect(error.message).toMatch(/^The gateway's accounts at its providers have no quota left/);
    }
  });

  it('is a 404 on a count of tokens if no provider counts any, and no retry', async () => {
    const counting = { ...messages, path: `${messages.path}/count_tokens` };
    const response = await ask(counting, [
      { status: 404, message: 'Not found' },
      { status: 404, message: 'Nor here' },
    ]);
    expect(response.headers.get('x-should-retry')).toBeNull();
    const error = await expectError(response, 404, 'not_found');
    expect(error.message).toBe('No provider of the model counts tokens.');
    const mixed = await ask(counting, [
      { status: 404, message: 'Not found' },
      { status: 500, message: 'Sorry' },
    ]);
    await expectError(mixed, 502, 'no_available_provider');
    // A status 404 of a provider counts as a fault of the catalogue.
    await expectError(await ask(messages, [{ status: 404, message: 'No model' }]), 502, 'no_available_provider');
  });
});
