// The interface of Google's Gemini, relayed to providers that have it and translated for the others.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of several shapes.
type Any = any;
type Json = Record<string, unknown>;

const apis = ['generate-content', 'messages', 'responses', 'converse', 'chat-completions'] as const;
const modelNames = {
  'generate-content': 'gemini-2.5-flash',
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  converse: 'anthropic.claude-sonnet-4-5-v1',
  'chat-completions': 'gpt-4.1',
} as const;

let gateway: Harness;
beforeAll(async () => {
  const models: Record<string, object[]> = {};
  for (const api of apis) {
    for (const behaviour of ['echo', 'tools', 'usage:1000:500:300:120:200:80', 'error-429']) {
      models[`${api}/${behaviour.split(':')[0]}`] = [
        { provider: api, upstream: `${modelNames[api]}/${behaviour}`, more: { max_output_tokens: 4_096 } },
      ];
    }
  }
  models['openai/embed'] = [{ provider: 'embeddings', upstream: 'echo' }];
  gateway = await startHarness({
    models: models as never,
    providers: {
      ...Object.fromEntries(apis.map((api) => [api, { apis: [api] }])),
      embeddings: { apis: ['embeddings'] },
    },
  });
});
afterAll(() => gateway.stop());

const origin = () => new URL(gateway.url).origin;
const ask = (path: string, body: unknown, headers: Record<string, string> = { 'x-goog-api-key': gateway.key }) =>
  fetch(origin() + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const hello = (more: Json = {}): Json => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }], ...more });
const jsonOf = async (response: Response): Promise<Any> => response.json();
const textOf = ({ candidates }: Any): string =>
  (candidates?.[0]?.content?.parts ?? []).map(({ text = '', thought }: Any) => (thought === true ? '' : text)).join('');

describe.each(apis)('Gemini at providers of %s', (api) => {
  it.each(['/v1beta', '/v1'])('answers whole, below %s', async (base) => {
    const response = await ask(`${base}/models/${api}/echo:generateContent`, hello());
    const answer = await jsonOf(response);
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    expect(textOf(answer)).not.toBe('');
    expect(answer.candidates[0]).toMatchObject({ finishReason: 'STOP', content: { role: 'model' } });
    expect(answer.usageMetadata.promptTokenCount).toBeGreaterThan(0);
    expect(answer.usageMetadata.cost_usd).toBe(response.headers.get('x-gw-cost'));
    expect(Number(answer.usageMetadata.cost_usd)).toBeGreaterThan(0);
  });

  it('answers as events, whose last has the end and the usage', async () => {
    const response = await ask(`/v1beta/models/${api}/echo:streamGenerateContent?alt=sse`, hello());
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const text = await response.text();
    expect(text).not.toContain('[DONE]');
    const events: Any[] = dataLines(text).map((line) => JSON.parse(line));
    expect(events.map(textOf).join('')).not.toBe('');
    expect(events.at(-1).candidates[0].finishReason).toBe('STOP');
    expect(events.at(-1).usageMetadata.totalTokenCount).toBeGreaterThan(0);
  });

  it('answers as one JSON array without `alt`', async () => {
    const response = await ask(`/v1beta/models/${api}/echo:streamGenerateContent`, hello());
    expect(response.headers.get('content-type')).toContain('application/json');
    const chunks = await jsonOf(response);
    expect(chunks.map(textOf).join('')).not.toBe('');
    expect(chunks.at(-1).candidates[0].finishReason).toBe('STOP');
  });

  it('calls tools, and goes on with their results', async () => {
    const tools = [
      {
        functionDeclarations: [
          { name: 'look', parameters: { type: 'OBJECT', properties: { place: { type: 'STRING' } } } },
        ],
      },
    ];
    const first = await jsonOf(await ask(`/v1beta/models/${api}/tools:generateContent`, hello({ tools })));
    const { content } = first.candidates[0];
    const call = content.parts.find((part: Any) => part.functionCall !== undefined);
    expect(call.functionCall).toMatchObject({ name: 'look', args: expect.any(Object) });
    const calls: Any[] = content.parts.flatMap((part: Any) => part.functionCall ?? []);
    const contents = [
      { role: 'user', parts: [{ text: 'Hello' }] },
      content,
      {
        role: 'user',
        parts: calls.map(({ name, id }) => ({
          functionResponse: { name, ...(id && { id }), response: { output: 'rain' } },
        })),
      },
    ];
    const second = await ask(`/v1beta/models/${api}/echo:generateContent`, { contents, tools });
    expect({ status: second.status, text: await second.text() }).toMatchObject({ status: 200 });
    expect(JSON.stringify(gateway.simulator.calls.at(-1)?.body)).toContain('rain');
  });

  it('gives results without ids to the calls of their names, in order', async () => {
    const names = ['look', 'listen', 'look'];
    const response = await ask(`/v1beta/models/${api}/echo:generateContent`, {
      contents: [
        { role: 'user', parts: [{ text: 'Look' }] },
        { role: 'model', parts: names.map((name, at) => ({ functionCall: { id: `call_${at}`, name, args: {} } })) },
        {
          role: 'user',
          parts: names.map((name, at) => ({ functionResponse: { name, response: { result: `result ${at}` } } })),
        },
      ],
    });
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    const sentText = gateway.simulator.calls.at(-1)?.bodyText ?? '';
    expect(sentText).not.toMatch(/no result/i);
    const places = names.map((_name, at) => sentText.indexOf(`result ${at}`));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it('takes a repeated result as one', async () => {
    const call = { id: 'call_1', name: 'look', args: {} };
    const result = { functionResponse: { id: 'call_1', name: 'look', response: { output: 'rain' } } };
    const response = await ask(`/v1beta/models/${api}/echo:generateContent`, {
      contents: [
        { role: 'user', parts: [{ text: 'Look' }] },
        { role: 'model', parts: [{ functionCall: call }] },
        { role: 'user', parts: api === 'generate-content' ? [result] : [result, result] },
      ],
    });
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    expect(gateway.simulator.calls.at(-1)?.bodyText.split('rain')).toHaveLength(2);
  });

  it('sends images, schemas, thinking and settings', async () => {
    const [, data = ''] = png(8, 8).split(',');
    const response = await ask(`/v1beta/models/${api}/echo:generateContent`, {
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data } }, { text: 'What is it?' }] }],
      generation_config: { max_output_tokens: 3_000, thinking_config: { thinking_budget: 1_024 }, temperature: 1 },
    });
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    const sentText = JSON.stringify(gateway.simulator.calls.at(-1)?.body);
    expect(sentText).toContain(data);
    expect(sentText).toContain('Be brief.');
  });

  it('has errors in Google’s form, with the retry that its SDKs read', async () => {
    const response = await ask(`/v1beta/models/${api}/error-429:generateContent`, hello());
    expect(response.status).toBe(429);
    const { error } = await jsonOf(response);
    expect(error).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED' });
    expect(error.details.map((one: Any) => one['@type'])).toContain('type.googleapis.com/google.rpc.RetryInfo');
  });

  it('counts tokens without a price', async () => {
    const response = await ask(`/v1beta/models/${api}/echo:countTokens`, hello());
    const answer = await jsonOf(response);
    expect(answer).toEqual({ totalTokens: expect.any(Number) });
    expect(answer.totalTokens).toBeGreaterThan(0);
    expect(response.headers.get('x-gw-cost')).toBe('0');
  });

  it('gives the same answer to a retry, and a conflict to another operation or model', async () => {
    const headers = { 'x-goog-api-key': gateway.key, 'idempotency-key': `once-${api}` };
    const path = (base: string, model: string) => `${base}/models/${model}:generateContent`;
    const first = await (await ask(path('/v1beta', `${api}/echo`), hello(), headers)).text();
    const again = await ask(path('/v1', `${api}%2Fecho`), hello(), headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.text()).toBe(first);
    const others = [
      await ask(path('/v1beta', `${api}/usage`), hello(), headers),
      await ask(`/v1beta/models/${api}/echo:streamGenerateContent?alt=sse`, hello(), headers),
    ];
    for (const other of others) {
      expect(other.status).toBe(409);
      expect((await jsonOf(other)).error).toMatchObject({
        status: 'ABORTED',
        details: [{ reason: 'idempotency_conflict' }],
      });
    }
  });
});

describe('Gemini', () => {
  it.each([
    [{}, 'contents'],
    [{ contents: [] }, 'contents'],
    [hello({ generationConfig: { maxOutputTokens: 0 } }), 'generationConfig.maxOutputTokens'],
    [hello({ generationConfig: {}, generation_config: {} }), 'generationConfig'],
    [hello({ contents: [{ parts: [{ inlineData: {}, inline_data: {} }] }] }), 'contents[0].parts[0].inlineData'],
  ])('refuses a bad body with the path of its field: %j', async (body, field) => {
    const response = await ask('/v1beta/models/messages/echo:generateContent', body);
    expect(response.status).toBe(400);
    const { error } = await jsonOf(response);
    expect(error.status).toBe('INVALID_ARGUMENT');
    expect(error.details.find((one: Any) => one.fieldViolations)?.fieldViolations[0].field).toBe(field);
  });

  it('refuses a role that is unknown if it is translated, and passes it on if it is relayed', async () => {
    const body = { contents: [{ role: 'critic', parts: [{ text: 'Hello' }] }] };
    const translation = await ask('/v1beta/models/messages/echo:generateContent', body);
    expect(translation.status).toBe(400);
    const refusal = JSON.stringify(await jsonOf(translation));
    expect(refusal).toContain('invalid_request');
    expect(refusal).toContain('contents[0].role');
    expect(refusal).not.toContain('feature_unsupported');
    await ask('/v1beta/models/generate-content/echo:generateContent', body);
    expect(gateway.simulator.calls.at(-1)?.body).toEqual(body);
  });

  it('refuses a key in the query, and logs it nowhere', async () => {
    const response = await ask(`/v1beta/models/messages/echo:generateContent?key=${gateway.key}`, hello());
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('x-goog-api-key');
    await gateway.settled();
    expect(gateway.logLines.filter((line) => line.includes(gateway.key))).toEqual([]);
  });

  it('embeds one text, or several', async () => {
    const content = { parts: [{ text: 'Hello' }] };
    const one = await jsonOf(await ask('/v1beta/models/openai/embed:embedContent', { content }));
    expect(one.embedding.values.length).toBeGreaterThan(0);
    const many = await ask('/v1/models/openai/embed:batchEmbedContents', { requests: [{ content }, { content }] });
    const answer = await jsonOf(many);
    expect(answer.embeddings).toHaveLength(2);
    expect(answer.usageMetadata.cost_usd).toBe(many.headers.get('x-gw-cost'));
  });
});
