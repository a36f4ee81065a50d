// Google's SDK for JavaScript without changes, on models of every format. test/flow/model-switch covers its chats with
// tools and reasoning.
import { ApiError, type GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { googleOf } from '../support/official-clients.ts';
import { imageUrl } from './client-gateway.ts';
import { formatResults } from './results.ts';

const upstreams = {
  'generate-content': 'gemini-2.5-flash',
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  converse: 'anthropic.claude-haiku-4-5-v1',
  'chat-completions': 'gpt-4.1',
} as const;
const formats = Object.keys(upstreams) as readonly (keyof typeof upstreams)[];
const behaviours = {
  echo: 'echo',
  broken: 'error-after-chunks:3',
  limited: 'error-429:x:7',
  long: 'error-400:context_length_exceeded',
};
const poorKey = newKey();

let gateway: Harness;
let google: GoogleGenAI;
beforeAll(async () => {
  const more = { supported_params: { tools: true, vision: true, json_schema: true } };
  gateway = await startHarness({
    service: { queue_ms: 0 },
    models: Object.fromEntries([
      ...formats.flatMap((format) =>
        Object.entries(behaviours).map(([name, behaviour]) => [
          `${format}/${name}`,
          [{ provider: format, upstream: `${upstreams[format]}/${behaviour}`, more }],
        ]),
      ),
      ['vectors', [{ provider: 'embeddings', upstream: 'echo' }]],
    ]),
    providers: Object.fromEntries([...formats, 'embeddings'].map((format) => [format, { apis: [format] }])),
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'poor', key: poorKey }] }],
  });
  google = googleOf(gateway);
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const failureOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => {
      throw new Error('it did not fail');
    },
    (error) => error,
  );

async function textOfStream(model: string): Promise<string> {
  let text = '';
  for await (const chunk of await google.models.generateContentStream({ model, contents: 'Hello' })) {
    text += chunk.text ?? '';
  }
  return text;
}

describe.each(formats)('at a provider of %s', (format) => {
  const model = (behaviour: string) => `${format}/${behaviour}`;

  it('an answer is whole, and a stream makes the same text', async () => {
    const answer = await google.models.generateContent({ model: model('echo'), contents: 'Hello' });
    expect(answer.text).toMatch(/^Hello! You wrote “Hello”/);
    expect(answer.candidates?.[0]?.finishReason).toBe('STOP');
    expect(answer.usageMetadata?.totalTokenCount).toBeGreaterThan(1);
    expect(await textOfStream(model('echo'))).toBe(answer.text);
    expect(await gateway.lastRecord()).toMatchObject({ interfaceId: 'generate-content', format });
  });

  it('an object of a schema comes back, of a picture', async () => {
    const [, data = ''] = imageUrl.split(',');
    const responseJsonSchema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };
    const { text } = await google.models.generateContent({
      model: model('echo'),
      contents: [{ inlineData: { mimeType: 'image/png', data } }, 'Label it'],
      config: { responseMimeType: 'application/json', responseJsonSchema },
    });
    expect(JSON.parse(text ?? '')).toEqual({ label: 'text' });
    expect(gateway.simulator.calls[0]?.bodyText).toContain(data);
  });

  it('tokens are counted', async () => {
    const { totalTokens } = await google.models.countTokens({ model: model('echo'), contents: 'Hello' });
    expect(totalTokens).toBeGreaterThan(0);
  });

  it('limits are 429, and tried again as often as the client says', async () => {
    await gateway.settled();
    const before = (await gateway.records()).length;
    const retrying = await failureOf(
      google.models.generateContent({
        model: model('limited'),
        contents: 'Hello',
        config: { httpOptions: { retryOptions: { attempts: 2, initialDelay: 0.001, maxDelay: 0.001 } } },
      }),
    );
    expect(retrying).toBeInstanceOf(ApiError);
    expect([retrying.status, retrying.message]).toEqual([429, expect.stringContaining('google.rpc.RetryInfo')]);
    await gateway.settled();
    expect((await gateway.records()).slice(before).map(({ outcome }) => outcome)).toEqual([
      'rate_limited',
      'rate_limited',
    ]);
  });

  it('a context that overflows is said in the words of Google', async () => {
    const { status, message } = await failureOf(
      google.models.generateContent({ model: model('long'), contents: 'Hello' }),
    );
    expect([status, message]).toEqual([400, expect.stringContaining('exceeds the maximum number of tokens')]);
  });

  it('a stream that broke is an error of the SDK', async () => {
    const error = await failureOf(textOfStream(model('broken')));
    expect(error).toBeInstanceOf(ApiError);
    expect(error.message).toContain('The stream broke off after its first output');
    expect(gateway.simulator.calls).toHaveLength(1);
  });
});

it('Google’s SDK reaches providers of the formats in the table', () => {
  const servedCells = Object.entries(formatResults['@google/genai'] ?? {}).filter(([, cell]) => cell === 'yes');
  expect(servedCells.map(([format]) => format).toSorted()).toEqual([...formats].toSorted());
});

it('Google’s SDK reads the errors for an account without credit, and for an unknown field', async () => {
  const poor = googleOf({ ...gateway, key: poorKey });
  const unpaid = await failureOf(poor.models.generateContent({ model: 'messages/echo', contents: 'Hello' }));
  expect([unpaid.status, unpaid.message]).toEqual([402, expect.stringContaining('FAILED_PRECONDITION')]);
  const contents = [{ role: 'critic', parts: [{ text: 'Hello' }] }];
  const unknown = await failureOf(google.models.generateContent({ model: 'messages/echo', contents }));
  expect([unknown.status, unknown.message]).toEqual([400, expect.stringContaining('contents[0].role')]);
  expect(gateway.simulator.calls).toEqual([]);
});

it('Google’s SDK lists the models of the key, finds one, and embeds', async () => {
  const modelNames: (string | undefined)[] = [];
  for await (const { name } of await google.models.list({ config: { pageSize: 7 } })) modelNames.push(name);
  expect(modelNames).toEqual(expect.arrayContaining(['models/messages/echo', 'models/vectors']));
  expect(new Set(modelNames).size).toBe(modelNames.length);
  expect((await google.models.get({ model: 'messages/echo' })).name).toBe('models/messages/echo');
  const { embeddings = [] } = await google.models.embedContent({ model: 'vectors', contents: ['One', 'Two'] });
  expect(embeddings.map(({ values = [] }) => values.length > 0)).toEqual([true, true]);
});
