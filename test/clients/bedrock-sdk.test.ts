// AWS's SDK for JavaScript without changes, with a token in place of a signature: Converse, its stream, InvokeModel
// with bodies of Claude, and counts of tokens, on models of every format.
import {
  type BedrockRuntimeClient,
  type BedrockRuntimeServiceException,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  CountTokensCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { bedrockOf } from '../support/official-clients.ts';

const formats = ['converse', 'messages', 'responses', 'generate-content', 'chat-completions'] as const;
const upstreams = {
  converse: 'anthropic.claude-haiku-4-5-v1',
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  'generate-content': 'gemini-3-pro',
  'chat-completions': 'gpt-4.1',
} as const;
const poorKey = newKey();
const sonnet = 'anthropic.claude-sonnet-4-20250514-v1:0';

let gateway: Harness;
let bedrock: BedrockRuntimeClient;
beforeAll(async () => {
  const more = { supported_params: { tools: true, vision: true, json_schema: true } };
  const behaviours = [
    'echo',
    'reasoning',
    'error-after-chunks:3',
    'error-429:x:7',
    'error-400:context_length_exceeded',
  ];
  gateway = await startHarness({
    service: { queue_ms: 0 },
    models: {
      ...Object.fromEntries(
        formats.flatMap((format) =>
          behaviours.map((behaviour) => [
            `on/${format}/${behaviour.split(':')[0]}${behaviour.includes('context') ? '-long' : ''}`,
            [{ provider: format, upstream: `${upstreams[format]}/${behaviour}`, more }],
          ]),
        ),
      ),
      'regions/sonnet': [
        { provider: 'europe', upstream: `eu.${sonnet}`, more },
        { provider: 'america', upstream: `us.${sonnet}`, more },
        { provider: 'messages', upstream: 'claude-sonnet-4', more },
      ],
    },
    providers: {
      ...Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
      europe: { apis: ['converse'], region: 'eu-central-1', kind: 'bedrock' },
      america: { apis: ['converse'], region: 'us-east-1', kind: 'bedrock' },
    },
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'poor', key: poorKey }] }],
  });
  bedrock = bedrockOf(gateway);
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const hello = (modelId: string, more: Partial<ConverseCommandInput> = {}): ConverseCommandInput => ({
  modelId,
  messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
  inferenceConfig: { maxTokens: 3_000 },
  ...more,
});

const textOf = (content: readonly ContentBlock[] = []): string => content.map(({ text = '' }) => text).join('');

async function eventsOf(modelId: string, more: Partial<ConverseCommandInput> = {}): Promise<ConverseStreamOutput[]> {
  const { stream } = await bedrock.send(new ConverseStreamCommand(hello(modelId, more) as ConverseCommandInput));
  const events: ConverseStreamOutput[] = [];
  for await (const event of stream ?? []) events.push(event);
  return events;
}

const failureOf = (call: Promise<unknown>): Promise<BedrockRuntimeServiceException & { code?: string }> =>
  call.then(
    () => {
      throw new Error('it did not fail');
    },
    (error) => error,
  );

const tool = {
  name: 'get_weather',
  inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } } } },
};

describe.each(formats)('at a provider of %s', (format) => {
  const model = (behaviour: string) => `on/${format}/${behaviour}`;

  it('by the handler that the SDK has by default, which speaks HTTP/2, an answer comes whole and as a stream', async () => {
    const http2 = bedrockOf(gateway, { requestHandler: {} });
    const { output } = await http2.send(new ConverseCommand(hello(model('echo'))));
    const { stream } = await http2.send(new ConverseStreamCommand(hello(model('echo')) as ConverseCommandInput));
    const texts: string[] = [];
    for await (const { contentBlockDelta } of stream ?? []) texts.push(contentBlockDelta?.delta?.text ?? '');
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.join('')).toBe(textOf(output?.message?.content));
    http2.destroy();
  });

  it('an answer is whole', async () => {
    const { output, stopReason, usage, metrics, $metadata } = await bedrock.send(
      new ConverseCommand(hello(model('echo'))),
    );
    expect(output?.message?.role).toBe('assistant');
    expect(textOf(output?.message?.content)).toMatch(/^Hello! You wrote “Hello”/);
    expect(stopReason).toBe('end_turn');
    const counts = [usage?.inputTokens, usage?.outputTokens, usage?.totalTokens, metrics?.latencyMs];
    expect(counts.every((count) => Number.isInteger(count))).toBe(true);
    expect(usage?.totalTokens).toBeGreaterThan(1);
    const record = await gateway.lastRecord();
    expect([record?.interfaceId, $metadata.requestId]).toEqual(['converse', record?.correlationId]);
  });

  it('a stream makes the same answer, in the order of Converse', async () => {
    const events = await eventsOf(model('echo'));
    const names = events.map((event) => Object.keys(event)[0]);
    expect([names[0], ...names.slice(-3)]).toEqual(['messageStart', 'contentBlockStop', 'messageStop', 'metadata']);
    const text = events.map(({ contentBlockDelta }) => contentBlockDelta?.delta?.text ?? '').join('');
    const { output } = await bedrock.send(new ConverseCommand(hello(model('echo'))));
    expect(text).toBe(textOf(output?.message?.content));
    expect(events.at(-2)?.messageStop?.stopReason).toBe('end_turn');
    expect(events.at(-1)?.metadata?.usage?.totalTokens).toBeGreaterThan(1);
  });

  it('tools are called with thinking before them, and their results go back', async () => {
    const toolConfig = { tools: [{ toolSpec: tool }] };
    const thinking = { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1_024 } } };
    const request = hello(model('reasoning'), {
      messages: [{ role: 'user', content: [{ text: 'Call the tool' }] }],
      toolConfig,
      ...thinking,
    });
    const { output, stopReason } = await bedrock.send(new ConverseCommand(request));
    expect(stopReason).toBe('tool_use');
    const content = output?.message?.content ?? [];
    const calls = content.flatMap(({ toolUse }) => toolUse ?? []);
    expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_weather'].slice(0, calls.length));
    for (const { toolUseId } of calls) expect(toolUseId).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const results = calls.map(({ toolUseId }) => ({
      toolResult: { toolUseId, content: [{ json: { weather: 'sunny' } }] },
    }));
    const again = await bedrock.send(
      new ConverseCommand({
        ...request,
        messages: [...(request.messages ?? []), { role: 'assistant', content }, { role: 'user', content: results }],
      }),
    );
    expect(again.stopReason).toBe('end_turn');
    expect(gateway.simulator.calls.at(-1)?.bodyText).toContain('sunny');
    expect(gateway.simulator.calls.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('calls of tools are streamed as pieces of JSON', async () => {
    const events = await eventsOf(model('echo'), {
      messages: [{ role: 'user', content: [{ text: 'Call the tool' }] }],
      toolConfig: { tools: [{ toolSpec: tool }] },
    });
    const starts = events.flatMap(({ contentBlockStart }) => contentBlockStart ?? []);
    expect(starts.length).toBeGreaterThan(0);
    for (const { start, contentBlockIndex } of starts) {
      expect(start?.toolUse?.name).toBe('get_weather');
      const deltas = events.flatMap(({ contentBlockDelta }) => contentBlockDelta ?? []);
      const pieces = deltas.filter((delta) => delta.contentBlockIndex === contentBlockIndex);
      expect(typeof JSON.parse(pieces.map(({ delta }) => delta?.toolUse?.input ?? '').join(''))).toBe('object');
    }
  });

  it('a stream that broke is an exception of its class', async () => {
    const error = await failureOf(eventsOf(model('error-after-chunks')));
    expect(error.name).toBe('ModelStreamErrorException');
    expect(error.message).toContain('The stream broke off after its first output');
  });

  it('limits are throttling, with the time to wait', async () => {
    const error = await failureOf(bedrock.send(new ConverseCommand(hello(model('error-429')))));
    expect([error.name, error.$metadata.httpStatusCode, error.code]).toEqual([
      'ThrottlingException',
      429,
      'rate_limited',
    ]);
    expect(error.$retryable ?? error.$response?.headers['retry-after']).toBeDefined();
  });

  it('a context that overflows is said in the words of Bedrock', async () => {
    const error = await failureOf(bedrock.send(new ConverseCommand(hello(model('error-400-long')))));
    expect([error.name, error.code]).toEqual(['ValidationException', 'invalid_request']);
    expect(error.message).toMatch(/^Input is too long/);
  });

  it('tokens are counted', async () => {
    const { messages } = hello('');
    const count = (input: object) => bedrock.send(new CountTokensCommand({ modelId: model('echo'), input } as never));
    expect((await count({ converse: { messages } })).inputTokens).toBeGreaterThan(0);
    const body = Buffer.from(JSON.stringify({ max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }));
    expect((await count({ invokeModel: { body } })).inputTokens).toBeGreaterThan(0);
    expect((await gateway.lastRecord())?.costPicoUsd).toBe(0n);
  });

  it('a body of Claude is invoked, whole and as a stream', async () => {
    const body = JSON.stringify({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
      max_tokens: 300,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const request = { modelId: model('echo'), body, contentType: 'application/json', accept: 'application/json' };
    const whole = await bedrock.send(new InvokeModelCommand(request));
    const message = JSON.parse(Buffer.from(whole.body).toString('utf8'));
    expect(message).toMatchObject({ type: 'message', stop_reason: 'end_turn' });
    const { body: stream } = await bedrock.send(new InvokeModelWithResponseStreamCommand(request));
    const events: { type: string; delta?: { text?: string } }[] = [];
    for await (const { chunk } of stream ?? []) {
      if (chunk?.bytes !== undefined) events.push(JSON.parse(Buffer.from(chunk.bytes).toString('utf8')));
    }
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['message_start', 'message_stop']);
    const texts = message.content.map(({ text = '' }: { text?: string }) => text).join('');
    expect(events.map(({ delta }) => delta?.text ?? '').join('')).toBe(texts);
    const [upstreamCall] = gateway.simulator.calls;
    expect(upstreamCall?.bodyText).not.toContain('anthropic_version');
    if (format === 'messages') expect(upstreamCall?.headers['anthropic-beta']).toBe('interleaved-thinking-2025-05-14');
    const record = await gateway.lastRecord();
    expect([record?.interfaceId, record?.format]).toEqual(['invoke', format]);
  });
});

describe('a name of Bedrock', () => {
  const providerOf = async (modelId: string): Promise<string | undefined> => {
    await bedrock.send(new ConverseCommand(hello(`${modelId}`)));
    return gateway.simulator.calls.at(-1)?.provider;
  };

  it.each([
    [`eu.${sonnet}`, 'europe'],
    [`us.${sonnet}`, 'america'],
    [`arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.${sonnet}`, 'america'],
  ])('%s is served by %s', async (modelId, provider) => {
    expect(await providerOf(modelId)).toBe(provider);
  });

  it('without a prefix is the model, at whichever of its providers', async () => {
    expect(await providerOf(sonnet)).toBe('europe');
    expect(await providerOf('regions/sonnet')).toBe('europe');
    expect(await providerOf(`arn:aws:bedrock:us-east-1::foundation-model/${sonnet}`)).toBe('europe');
  });

  it('of a prefix that no entry has is unknown, and named with those that there are', async () => {
    const error = await failureOf(bedrock.send(new ConverseCommand(hello(`global.${sonnet}`))));
    expect([error.name, error.code]).toEqual(['ValidationException', 'unknown_model']);
    expect(error.message).toContain('"eu.", "us."');
    expect(gateway.simulator.calls).toEqual([]);
  });
});

describe('a refusal has the form of AWS', () => {
  it('for a request that is signed, with the variable to set', async () => {
    const signing = bedrockOf(gateway, {
      credentials: { accessKeyId: 'AKIAEXAMPLEEXAMPLE00', secretAccessKey: 'secret' },
      authSchemePreference: ['sigv4'],
    });
    const error = await failureOf(signing.send(new ConverseCommand(hello('regions/sonnet'))));
    expect([error.name, error.$metadata.httpStatusCode, error.code]).toEqual([
      'AccessDeniedException',
      401,
      'UNAUTHORIZED',
    ]);
    expect(error.message).toContain('AWS_BEARER_TOKEN_BEDROCK');
  });

  it('for an empty account, and for a body that is none', async () => {
    const poor = bedrockOf({ ...gateway, key: poorKey });
    const unpaid = await failureOf(poor.send(new ConverseCommand(hello('regions/sonnet'))));
    expect([unpaid.name, unpaid.$metadata.httpStatusCode, unpaid.code]).toEqual([
      'AccessDeniedException',
      402,
      'PAYMENT_REQUIRED',
    ]);
    const messages = [{ role: 'user', content: [{ text: 'Hello' }] }, { content: [] }];
    const bad = await failureOf(bedrock.send(new ConverseCommand(hello('regions/sonnet', { messages } as never))));
    expect([bad.name, bad.message]).toEqual(['ValidationException', 'messages[1].role: is missing']);
    const critics = [{ role: 'critic', content: [{ text: 'Hello' }] }];
    const foreign = hello('on/messages/echo', { messages: critics } as never);
    const unknown = await failureOf(bedrock.send(new ConverseCommand(foreign)));
    expect([unknown.name, unknown.code, unknown.message]).toEqual([
      'ValidationException',
      'invalid_request',
      'messages[0].role: this role is unknown.',
    ]);
    expect(gateway.simulator.calls).toEqual([]);
  });
});
