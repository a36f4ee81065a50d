import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';

const apis = { apis: ['chat-completions', 'responses'] };
const abilities = { tools: true, vision: true, json_mode: true, json_schema: true };

type Json = Record<string, unknown>;

describe('the interface of Responses', () => {
  let gateway: Harness;

  beforeAll(async () => {
    const entryOf = (upstream: string, more: Json = {}) => [{ provider: 'acme', upstream, more }];
    gateway = await startHarness({
      models: {
        'acme/echo': entryOf('echo'),
        'acme/failing': [
          ...entryOf('error-500', { supported_params: { ...abilities, extras: ['prompt'] } }),
          { provider: 'globex', upstream: 'echo', more: { supported_params: { extras: ['prompt'] } } },
        ],
        'acme/request': [...entryOf('echo-request'), { provider: 'globex', upstream: 'echo-request' }],
        'acme/usage': entryOf('usage:1000:500:400:100'),
        'zen/vectors': [{ provider: 'zen', upstream: 'echo' }],
        'acme/searching': entryOf('echo', { supported_params: { ...abilities, extras: ['web_search', 'mcp'] } }),
        'acme/plain': entryOf('echo', {
          supported_params: { ...abilities, vision: false, tools: false, json_schema: false },
        }),
        'acme/too-long': entryOf('error-400:context_length_exceeded'),
      },
      providers: {
        // test/flow/stored-input.test.ts covers unshared state.
        acme: { ...apis, data_policy: { zdr: true }, shared_state: true },
        globex: { ...apis, data_policy: { zdr: true }, shared_state: true },
        zen: { apis: ['embeddings'] },
      },
      workspace: { features: { presets: true } },
    });
  });
  afterAll(async () => {
    await gateway.stop();
  });

  const client = (base: '/v1' | '/openai/v1' = '/openai/v1') =>
    new OpenAI({ apiKey: gateway.key, baseURL: new URL(base, gateway.url).href, maxRetries: 0 });
  const post = (body: Json, headers: Record<string, string> = {}) =>
    gateway.postTo('/responses', { input: 'Hello', ...body }, headers);
  const postJson = async (body: Json, headers: Record<string, string> = {}) =>
    (await (await post(body, headers)).json()) as Json;
  const sentBy = async (body: Json, headers: Record<string, string> = {}) => {
    gateway.simulator.clear();
    expect((await post(body, headers)).status).toBe(200);
    return gateway.simulator.calls[0]?.body;
  };

  it('serves the stock client below both base URLs, and adds the cost to usage', async () => {
    for (const base of ['/v1', '/openai/v1'] as const) {
      const answer = await client(base).responses.create({ model: 'acme/usage', input: 'Hello' });
      expect(answer.output_text).toMatch(/Hello/);
      // The cost is 1,000 tokens of input at $1 and 500 of output at $2 a million.
      expect(answer.usage).toMatchObject({ input_tokens: 1_000, output_tokens: 500, cost: 0.002, cost_usd: '0.002' });
    }
    expect(await gateway.lastRecord()).toMatchObject({
      interfaceId: 'responses',
      promptTokens: 1_000,
      cachedTokens: 400,
      completionTokens: 500,
      costPicoUsd: 2_000_000_000n,
    });
  });

  it('relays events byte for byte with their names, bills them once, and writes no end of its own', async () => {
    const body = { model: 'acme/echo', stream: true };
    const direct = await fetch(`${gateway.simulator.urlOf('acme')}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model: 'echo', input: 'Hello' }),
    });
    const withoutTimeAndIds = (text: string) => text.replaceAll(/"created_at":\d+|(resp|msg)_[0-9a-f]+/g, '');
    const relayedText = await (await post(body)).text();
    expect(withoutTimeAndIds(relayedText)).toBe(withoutTimeAndIds(await direct.text()));
    expect(relayedText).toContain('event: response.completed');
    expect(relayedText).not.toContain('[DONE]');
    expect(await gateway.lastRecord()).toMatchObject({
      outcome: 'ok',
      stream: true,
      completionTokens: expect.any(Number),
    });
  });

  it('reserves an image like any other in every place, including the results of tools and files', async () => {
    const screenshot = { type: 'computer_screenshot', image_url: 'https://pictures.example/1.png' };
    const unknown = { type: 'computer_screenshot', file_id: 'file_1' };
    const outputItem = (output: unknown) => ({ type: 'computer_call_output', call_id: 'c', output });
    const heldFor = async (item: Json) => {
      // The request asks for more output than the credit covers: the message names the amount to reserve.
      const answer = await postJson({ model: 'acme/echo', input: [item], max_output_tokens: 60_000_000 });
      return Math.round((Number(/(\d+\.\d+)/.exec(String(answer.message))?.[1]) - 120) * 1e6);
    };
    const image = { type: 'input_image', image_url: 'https://pictures.example/1.png' };
    const heldForList = await heldFor(outputItem([image]));
    expect(heldForList).toBeGreaterThan(40_000);
    expect(Math.abs((await heldFor(outputItem(screenshot))) - heldForList)).toBeLessThan(100);
    expect(Math.abs((await heldFor(image)) - heldForList)).toBeLessThan(100);
    expect(await heldFor(outputItem(unknown))).toBe(128_000);
    const refusal = await postJson({ model: 'acme/plain', input: [outputItem(screenshot)] });
    expect(refusal.error).toBe('feature_unsupported');
  });

  it('sends what it does not use as it came, less what is its own', async () => {
    const reasoning = { effort: 'low', summary: 'auto' };
    const more = { include: ['reasoning.encrypted_content'] };
    const text = `{"model":"acme/request","input":"Hi","reasoning":${JSON.stringify(reasoning)},"include":${JSON.stringify(more.include)},"client_metadata":{"a":1},"seed":12345678901234567890,"models":["acme/echo"],"provider":{"only":["acme"]},"cache":{"enabled":false}}`;
    gateway.simulator.clear();
    const response = await gateway.postTo('/responses', text, {
      'openai-beta': 'responses=v1',
      'x-stainless-lang': 'js',
    });
    expect(response.status).toBe(200);
    const [call] = gateway.simulator.calls;
    expect(call?.path).toMatch(/\/responses$/);
    const { output } = (await response.json()) as { output: { content: { text: string }[] }[] };
    expect(output.at(-1)?.content[0]?.text).toContain(
      `{"input":"Hi","reasoning":${JSON.stringify(reasoning)},"include":${JSON.stringify(more.include)},"client_metadata":{"a":1},"seed":12345678901234567890,"model":"echo-request"}`,
    );
    expect(call?.headers).toMatchObject({ 'openai-beta': 'responses=v1' });
    expect(call?.headers).not.toHaveProperty('x-stainless-lang');
  });

  it.each([{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { prompt: { id: 'pmpt_1' } }])(
    'tries the first candidate alone if the call refers to what a provider keeps: %j',
    async (reference) => {
      gateway.simulator.clear();
      const response = await post({ model: 'acme/failing', provider: { order: ['acme', 'globex'] }, ...reference });
      expect(response.status).toBe(502);
      expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['acme']);
    },
  );

  describe('a call that refers to what a provider keeps', () => {
    const calledBy = async (body: Json) => {
      gateway.simulator.clear();
      const response = await post(body);
      const text = await response.text();
      const providers = gateway.simulator.calls.map(({ provider }) => provider);
      return { status: response.status, id: /resp_[0-9a-f]+/.exec(text)?.[0], providers, text };
    };
    /** Makes a call at the provider that is not the first in the order. */
    const callWith = (more: Json = {}) => calledBy({ model: 'acme/request', provider: { only: 'globex' }, ...more });

    it('goes to it alone, also while it cools', async () => {
      const { id, providers } = await calledBy({
        model: 'acme/failing',
        provider: { order: ['acme', 'globex'] },
      });
      expect(providers).toEqual(['acme', 'globex']);
      const candidate = { provider: 'globex', model: 'acme/failing' };
      gateway.composition.cooldowns.report(candidate, { workspace: 'team', callId: '1', isRateLimited: true });
      expect(gateway.composition.cooldowns.isCooling(candidate, 'team')).toBe(true);
      expect(await calledBy({ model: 'acme/failing', previous_response_id: id })).toMatchObject({
        status: 200,
        providers: ['globex'],
      });
    });

    it.each([{ conversation: 'conv_7' }, { conversation: { id: 'conv_8' } }, { prompt: { id: 'pmpt_7' } }])(
      'goes to the provider that has answered a call that referred to it before: %j',
      async (reference) => {
        const model = 'acme/failing';
        expect((await calledBy({ model, provider: { only: 'globex' }, ...reference })).providers).toEqual(['globex']);
        expect((await calledBy({ model, ...reference })).providers).toEqual(['globex']);
      },
    );

    it('goes to the first provider if none is known to keep it', async () => {
      const unkept = await callWith({ store: false });
      for (const previous_response_id of ['resp_unknown', unkept.id, 7])
        expect((await calledBy({ model: 'acme/request', previous_response_id })).providers).toEqual(['acme']);
    });

    it('is refused if the provider that stores it may not serve it, and none is called', async () => {
      const { id } = await callWith();
      for (const more of [
        { model: 'acme/echo', models: ['acme/request'], provider: { ignore: ['globex'] } },
        { model: 'acme/request', provider: { only: 'acme' } },
      ]) {
        const refusal = await calledBy({ ...more, previous_response_id: id });
        expect(refusal).toMatchObject({ status: 400, providers: [] });
        expect(refusal.text).toContain('model_not_routable');
      }
    });
  });

  it('keeps nothing under zdr: an absent store is sent as false, and what is kept all the same loosens the policy', async () => {
    const provider = { zdr: true };
    expect(await sentBy({ model: 'acme/request', provider })).toMatchObject({ store: false });
    expect(await sentBy({ model: 'acme/request', provider, store: false })).toMatchObject({ store: false });
    expect(await sentBy({ model: 'acme/request' })).not.toHaveProperty('store');
    gateway.simulator.clear();
    const keeping = { store: true, conversation: 'conv_1', prompt_cache_retention: '24h' };
    for (const [member, value] of Object.entries(keeping)) {
      expect(await postJson({ model: 'acme/request', provider, [member]: value })).toMatchObject({
        error: 'data_policy_loosening_forbidden',
        message: `${member} lets a provider keep the call, which zdr rules out.`,
      });
    }
    expect(gateway.simulator.calls).toEqual([]);
    const inMemory = { conversation: null, prompt_cache_retention: 'in_memory' };
    expect(await sentBy({ model: 'acme/request', provider, ...inMemory })).toMatchObject(inMemory);
  });

  it('caches what no provider keeps, streamed or not, and serves it to no other interface', async () => {
    const cache = { namespace: 'responses' };
    for (const stream of [false, true]) {
      const outcomes: (string | null)[] = [];
      const texts: string[] = [];
      for (const store of [false, false, undefined]) {
        const response = await post({ model: 'acme/echo', cache, store, stream });
        outcomes.push(response.headers.get('x-gw-cache'));
        texts.push(await response.text());
        await gateway.settled();
      }
      expect(outcomes).toEqual(['MISS', 'HIT', 'BYPASS']);
      if (stream) expect(texts[1]).toBe(texts[0]);
      else expect(JSON.parse(texts[1] ?? '')).toMatchObject({ usage: { cost: 0, cost_usd: '0' } });
    }
  });

  it('takes the session of its clients if no header of the gateway names one', async () => {
    await (await post({ model: 'acme/echo' }, { 'session-id': 'codex-1' })).text();
    expect(await gateway.lastRecord()).toMatchObject({ sessionId: 'codex-1' });
    await (await post({ model: 'acme/echo' }, { 'session-id': 'codex-1', 'x-gw-session-id': 'ours' })).text();
    expect(await gateway.lastRecord()).toMatchObject({ sessionId: 'ours' });
  });

  it.each<[string, Json, string, string | undefined]>([
    ['background', { background: true }, 'invalid_request', 'background'],
    ['a preset', { preset: 'terse' }, 'invalid_request', 'preset'],
    ['a function alias', { model: 'gw/function/label' }, 'invalid_function_request', 'model'],
    ['a name in another letter case', { Max_Output_Tokens: 5 }, 'invalid_request', 'max_output_tokens'],
    ['an output bound that is none', { max_output_tokens: 0 }, 'invalid_request', 'max_output_tokens'],
    ['a model of another interface', { model: 'zen/vectors' }, 'model_not_routable', 'model'],
    ['an unknown member of provider', { provider: { onlyy: [] } }, 'invalid_request', 'provider.onlyy'],
    [
      'a schema that no entry honours',
      { model: 'acme/plain', text: { format: { type: 'json_schema' } } },
      'structured_output_unsupported',
      'text.format',
    ],
    ['a dearer tier', { service_tier: 'priority' }, 'feature_unsupported', 'service_tier'],
    [
      'a tool of the provider that is added later',
      { input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }] },
      'feature_unsupported',
      'input[0].tools[0]',
    ],
    [
      'tools that no entry declares',
      { model: 'acme/plain', tools: [{ type: 'custom' }] },
      'feature_unsupported',
      'tools',
    ],
    [
      'images that no entry declares',
      {
        model: 'acme/plain',
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://x/y.png' }] }],
      },
      'feature_unsupported',
      'input[0].content[0]',
    ],
  ])('refuses %s before a provider is called', async (_what, body, code, param) => {
    gateway.simulator.clear();
    const response = await post({ model: 'acme/echo', ...body }, { 'x-gw-error-format': 'openai' });
    expect(await response.json()).toMatchObject({ error: { code, param } });
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('says in the words that agents look for that a prompt is too long, and which field holds it', async () => {
    const answer = await postJson({ model: 'acme/too-long' }, { 'x-gw-error-format': 'openai' });
    expect(answer).toMatchObject({
      error: {
        code: 'context_length_exceeded',
        param: 'input',
        message: expect.stringMatching(/maximum context length is 128000 tokens/),
      },
    });
  });

  it('says so in a stream as a response that fails by it, charges nothing, and leaves the Idempotency-Key free', async () => {
    const body = { model: 'acme/too-long', stream: true, instructions: 'Be brief.' };
    gateway.simulator.clear();
    for (const calls of [1, 2]) {
      const response = await post(body, { 'idempotency-key': 'too-long', 'x-gw-error-format': 'openai' });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/event-stream/),
      ]);
      const id = response.headers.get('x-request-id') ?? '';
      const events = dataLines(await response.text()).map((line) => JSON.parse(line) as Record<string, unknown>);
      const words = {
        code: 'context_length_exceeded',
        message: expect.stringMatching(/maximum context length is 128000/),
      };
      const fields = { object: 'response', model: 'acme/too-long', instructions: 'Be brief.', output: [] };
      expect(events).toMatchObject([
        { type: 'response.created', sequence_number: 0, response: { ...fields, status: 'in_progress', error: null } },
        { type: 'error', sequence_number: 1, param: 'input', ...words },
        { type: 'response.failed', sequence_number: 2, response: { ...fields, status: 'failed', error: words } },
      ]);
      await gateway.settled();
      const { data } = (await (await gateway.get(`/generation?id=${id}`)).json()) as { data: Record<string, unknown> };
      expect(data).toMatchObject({ outcome: 'invalid_request', cost_usd: '0' });
      expect(gateway.simulator.calls).toHaveLength(calls);
    }
    expect((await gateway.credit()).held).toBe(0n);
  });

  it('calls a tool of the provider if the entry lists it, and lets tools of the client pass, whatever their type', async () => {
    const tools = [{ type: 'web_search' }, { type: 'mcp' }, { type: 'local_shell' }, { type: 'namespace', tools: [] }];
    expect((await post({ model: 'acme/searching', tools })).status).toBe(200);
    expect((await post({ model: 'acme/echo', tools: tools.slice(2) })).status).toBe(200);
  });
});
