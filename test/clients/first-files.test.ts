// A new user's first file, as the documentation shows it: started with `--config` and called by the official SDKs. Only
// the addresses of providers differ; the fake providers refuse fields that their formats do not have.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { demoGatewayFile } from '../../infra/local/demo/demo-file.ts';
import { knownProviders } from '../../infra/local/demo/known-providers.ts';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { type StartedExample, startExample, wholeExamples } from '../support/readme-examples.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../support/token-endpoint.ts';
import { citySchema, imageUrl, labelSchema } from './client-gateway.ts';

let simulator: Simulator;
let endpoint: TokenEndpoint;
let former: readonly (readonly [string, string | undefined])[];
beforeAll(async () => {
  simulator = await startTestSimulator();
  endpoint = await startTokenEndpoint();
  const variables = new Map([
    ...[
      ...knownProviders.map(({ variable }) => variable),
      'ACME_API_KEY',
      'ACME_BYOK',
      'AZURE_OPENAI_API_KEY',
      'OPENROUTER_API_KEY',
    ].map((name) => [name, 'the-key'] as const),
    ['AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE'],
    ['AWS_SECRET_ACCESS_KEY', 'secret'],
    ['VERTEX_SERVICE_ACCOUNT', endpoint.account()],
  ]);
  former = [...variables.keys()].map((name) => [name, process.env[name]] as const);
  for (const [name, value] of variables) process.env[name] = value;
});
afterAll(async () => {
  for (const [name, value] of former) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await simulator.stop();
  await endpoint.stop();
});

/** Returns clients with the base URLs that the start prints. */
const clientsOf = ({ key, lines }: StartedExample) => {
  const baseUrlFor = (whom: string) =>
    lines.find((line) => line.startsWith(`base URL for ${whom}`))?.split(': ')[1] ?? '';
  return {
    openai: new OpenAI({ apiKey: key, baseURL: baseUrlFor('OpenAI'), maxRetries: 0 }),
    anthropic: new Anthropic({ authToken: key, apiKey: null, baseURL: baseUrlFor('Claude Code'), maxRetries: 0 }),
  };
};

type Body = Record<string, unknown>;
/** A call as its provider receives it. */
interface Received {
  readonly path: string;
  readonly body: Body;
}
interface FirstFile {
  readonly model: string;
  /** The header with the key; undefined if the provider needs no key. */
  readonly key?: readonly [header: string, value: unknown];
  readonly chat: Received;
  /** The call by Responses; the default is that by chat completions. */
  readonly responses?: Received;
  /** The call by Messages, with a bound of 100 tokens. */
  readonly messages: Received;
  /** Matches the refusal's text, which names the features that the model lacks according to the file. */
  readonly refuses?: RegExp;
}

const bearer = ['authorization', 'Bearer the-key'] as const;
const text = 'Hi';
const plainMessages = [{ role: 'user', content: text }];
const blocks = [{ role: 'user', content: [{ type: 'text', text }] }];
const converse = (provider: string, model: string, maxTokens: number): Received => ({
  path: `/${provider}/v1/model/${encodeURIComponent(model)}/converse`,
  body: {
    system: [],
    messages: [{ role: 'user', content: [{ text }] }],
    inferenceConfig: { maxTokens },
    additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
  },
});
const generateContent = (provider: string, model: string, maxOutputTokens: number): Received => ({
  path: `/${provider}/v1/models/${model}:generateContent`,
  body: { contents: [{ role: 'user', parts: [{ text }] }], generationConfig: { maxOutputTokens } },
});
const geminiBound = 65_536;
const signedHeaders = [
  'authorization',
  expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\//),
] as const;
const listedClaude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const profile = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123';
const byResponses = (provider: string, model: string) => ({
  chat: { path: `/${provider}/v1/chat/completions`, body: { model, messages: plainMessages } },
  responses: { path: `/${provider}/v1/responses`, body: { model, input: text } },
  messages: {
    path: `/${provider}/v1/responses`,
    body: {
      model,
      input: [{ role: 'user', content: [{ type: 'input_text', text }] }],
      max_output_tokens: 100,
      store: false,
      include: ['reasoning.encrypted_content'],
    },
  },
});
/** Returns the calls; the entry's bound is sent if a client of another interface sets none. */
const byChat = (provider: string, model: string, maxTokens: number, boundName = 'max_tokens') => {
  const path = `/${provider}/v1/chat/completions`;
  return {
    chat: { path, body: { model, messages: plainMessages } },
    responses: { path, body: { model, messages: plainMessages, [boundName]: maxTokens } },
    messages: { path, body: { model, messages: plainMessages, [boundName]: 100 } },
  };
};

const firstFiles: Readonly<Record<string, FirstFile>> = {
  openai: { model: 'openai/gpt-5.4', key: bearer, ...byResponses('openai', 'gpt-5.4') },
  anthropic: {
    model: 'anthropic/claude-sonnet-4-5',
    key: ['x-api-key', 'the-key'],
    chat: {
      path: '/anthropic/v1/messages',
      body: { model: 'claude-sonnet-4-5', max_tokens: 64_000, messages: blocks },
    },
    messages: {
      path: '/anthropic/v1/messages',
      body: { model: 'claude-sonnet-4-5', max_tokens: 100, messages: plainMessages },
    },
  },
  gemini: {
    model: 'gemini/gemini-2.5-flash',
    key: ['x-goog-api-key', 'the-key'],
    chat: generateContent('gemini', 'gemini-2.5-flash', geminiBound),
    messages: generateContent('gemini', 'gemini-2.5-flash', 100),
  },
  azure: { model: 'gpt-5-mini', key: ['api-key', 'the-key'], ...byResponses('azure', 'team-chat') },
  bedrock: {
    model: `bedrock/${listedClaude}`,
    key: signedHeaders,
    chat: converse('bedrock', listedClaude, 64_000),
    messages: converse('bedrock', listedClaude, 100),
  },
  profiles: {
    model: 'claude',
    key: signedHeaders,
    chat: converse('profiles', profile, 64_000),
    messages: converse('profiles', profile, 100),
  },
  vertex: {
    model: 'vertex/gemini-3.5-flash-lite',
    key: ['authorization', 'Bearer token-1'],
    chat: generateContent('vertex', 'gemini-3.5-flash-lite', geminiBound),
    messages: generateContent('vertex', 'gemini-3.5-flash-lite', 100),
  },
  router: {
    model: 'openai/gpt-5-mini',
    key: bearer,
    ...byChat('router', 'openai/gpt-5-mini', 128_000, 'max_completion_tokens'),
  },
  pc: {
    model: 'qwen3',
    ...byChat('pc', 'qwen3', 40_960),
    refuses: /supported_params: \{ (vision|json_schema): true \}/,
  },
  ai: {
    model: 'qwen3-coder',
    ...byChat('ai', 'qwen3-coder', 131_072),
    refuses: /supported_params: \{ (vision|json_schema): true \}/,
  },
  acme: {
    model: 'acme/large',
    key: bearer,
    ...byChat('acme', 'large', 8_192),
    refuses: /supported_params: \{ (tools|vision|json_schema): true \}/,
  },
};

const documentedFiles = wholeExamples.filter(({ place }) =>
  place.startsWith('shared/configuration/gateway-file/first-files.md'),
);

it('the documentation has a first file for each of these, in under ten lines', () => {
  const ids = documentedFiles.map(({ text: file }) => /\bid: (\w+)/.exec(file)?.[1]);
  expect(ids).toEqual(Object.keys(firstFiles));
  for (const { text: file } of documentedFiles) expect(file.trim().split('\n').length).toBeLessThan(10);
});

describe.each(Object.entries(firstFiles))('the first file of %s', (id, file) => {
  let started: StartedExample;
  beforeAll(async () => {
    const example = documentedFiles.find(({ text: fileText }) => fileText.includes(`id: ${id}`));
    started = await startExample(example?.text ?? '', simulator.urlOf);
  });
  afterAll(() => started.stop());

  const model = file.model;
  const keyHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];
  function expectReceived({ path, body }: Received) {
    expect(simulator.calls).toHaveLength(1);
    const [call] = simulator.calls;
    expect([call?.method, call?.path, call?.body]).toEqual(['POST', path, body]);
    const keys = Object.entries(call?.headers ?? {}).filter(([name]) => keyHeaders.includes(name));
    expect(keys).toEqual(file.key === undefined ? [] : [file.key]);
    expect(call?.headers['content-type']).toBe('application/json');
    if (path.endsWith('/messages')) expect(call?.headers['anthropic-version']).toMatch(/^\d{4}-\d\d-\d\d$/);
  }

  it('starts without a word of something missing', () => {
    expect(started.lines.filter((line) => /^(note|warning)/.test(line))).toEqual([]);
    expect(started.lines.filter((line) => line.startsWith('curl '))).toHaveLength(1);
  });

  it('answers OpenAI’s client by chat completions, whole and streamed', async () => {
    const { chat } = clientsOf(started).openai;
    simulator.clear();
    const whole = await chat.completions.create({ model, messages: [{ role: 'user', content: text }] });
    expect(whole.choices[0]?.message.content).toContain(`You wrote “${text}”`);
    expect(whole.usage).toMatchObject({ cost: expect.any(Number) });
    expectReceived(file.chat);
    let streamText = '';
    const stream = await chat.completions.create({ model, messages: [{ role: 'user', content: text }], stream: true });
    for await (const { choices } of stream) streamText += choices[0]?.delta.content ?? '';
    expect(streamText).toBe(whole.choices[0]?.message.content);
  });

  it('answers OpenAI’s client by Responses', async () => {
    simulator.clear();
    const { output_text } = await clientsOf(started).openai.responses.create({ model, input: text });
    expect(output_text).toContain(`You wrote “${text}”`);
    expectReceived(file.responses ?? file.chat);
  });

  it('answers Anthropic’s client by Messages', async () => {
    simulator.clear();
    const body = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: text }] };
    const { content } = await clientsOf(started).anthropic.messages.create(body);
    // Gemini 3 signs its text: the signature is in a reasoning block before the text.
    expect(content.filter(({ type }) => type !== 'thinking')).toHaveLength(1);
    expect(content.at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining('You wrote') });
    expectReceived(file.messages);
  });

  it('takes tools, images and JSON by a schema, or says what the file has to write for them', async () => {
    simulator.clear();
    const completion = clientsOf(started).openai.chat.completions.create({
      model,
      max_completion_tokens: 500,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'image_url', image_url: { url: imageUrl } },
          ],
        },
      ],
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: citySchema } }],
      response_format: { type: 'json_schema', json_schema: { name: 'label', schema: labelSchema } },
    });
    if (file.refuses !== undefined) {
      await expect(completion).rejects.toMatchObject({ status: 400, message: expect.stringMatching(file.refuses) });
      expect(simulator.calls).toEqual([]);
      return;
    }
    const { message } = (await completion).choices[0] ?? {};
    expect(Object.keys(JSON.parse(message?.content ?? '{}'))).toEqual(['label']);
  });
});

const firstTexts = new Set(documentedFiles.map(({ text: file }) => file));
const otherExamples = wholeExamples.filter(({ text: file }) => !firstTexts.has(file));

describe.each(otherExamples.map(({ place, text: example }) => [place, example] as const))('%s', (_place, example) => {
  let started: StartedExample;
  beforeAll(async () => {
    started = await startExample(example, simulator.urlOf);
  });
  afterAll(() => started.stop());

  it('starts, and each of its models answers six concurrent calls', async () => {
    expect(started.lines.filter((line) => /no credential|not configured|has no credit/.test(line))).toEqual([]);
    const { openai } = clientsOf(started);
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) if (id !== 'auto') ids.push(id);
    expect(ids.length).toBeGreaterThan(0);
    for (const model of ids.slice(0, modelsMax)) {
      simulator.clear();
      const answers = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(() =>
          openai.chat.completions.create({ model, messages: [{ role: 'user', content: text }] }),
        ),
      );
      expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(
        answers.map(() => expect.stringContaining(`You wrote “${text}”`)),
      );
      expect(simulator.calls.filter(({ behaviour }) => behaviour !== 'guardrail')).toHaveLength(answers.length);
    }
  });
});
/** An example may have many models from the list, of which the first ones are enough. */
const modelsMax = 3;

describe('the real providers of the demo', () => {
  let started: StartedExample;
  beforeAll(async () => {
    const key = newKey();
    const example = demoGatewayFile({
      simulatorUrlOf: simulator.urlOf,
      real: knownProviders,
      key: { name: 'demo', key },
      isNew: true,
    });
    started = { ...(await startExample(example, simulator.urlOf)), key };
  });
  afterAll(() => started.stop());

  const real = knownProviders.flatMap(({ provider, models }) => models.map(({ id }) => [id, provider.id] as const));

  it.each(real)('%s does all that its provider does', async (model, provider) => {
    simulator.clear();
    const { openai, anthropic } = clientsOf(started);
    if (model.includes('embedding')) {
      const { data } = await openai.embeddings.create({ model, input: text });
      expect(data).toHaveLength(1);
      return;
    }
    const messages = [{ role: 'user' as const, content: text }];
    const tool = { type: 'function' as const, function: { name: 'get_weather', parameters: { ...citySchema } } };
    const texts = [
      (await openai.chat.completions.create({ model, messages, tools: [tool] })).choices[0]?.message.content,
      (await openai.responses.create({ model, input: text })).output_text,
      (await anthropic.messages.create({ model, max_tokens: 100, messages })).content[0],
    ];
    for (const words of texts) expect(JSON.stringify(words)).toContain(`You wrote “${text}”`);
    expect(simulator.calls.map((call) => call.provider)).toEqual([provider, provider, provider]);
    if (provider === 'openai') expect(simulator.calls[1]?.path).toBe('/openai/v1/responses');
  });
});
