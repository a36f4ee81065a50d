// The operator's log of a call: its path through providers, a wrong key, the provider's own words. These words do not
// reach a client, and no line contains a credential, a prompt or an answer.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { logLineBytes, streamBytesPerToken } from '../support/costs.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';

const credential = 'plain words as a key';
process.env.GW_TEST_OPERATOR_LINES = credential;

type Line = Readonly<Record<string, unknown>>;

describe('the lines of a call', () => {
  let harness: Harness;
  beforeAll(async () => {
    const route = (provider: string, upstream: string) => ({ provider, upstream });
    harness = await startHarness({
      providers: {
        globex: { auth: { bearer: { env: 'GW_TEST_OPERATOR_LINES' } } },
        stalled: { idle_timeout_ms: 1_000 },
      },
      models: {
        'acme/echo': [route('acme', 'echo')],
        'acme/rescued': [route('globex', 'error-500'), route('acme', 'echo')],
        'acme/wrong-key': [route('globex', 'error-leak:401')],
        'acme/rejected': [route('globex', 'error-400'), route('acme', 'error-400')],
        'acme/html': [route('globex', 'error-html')],
        'acme/late': [route('globex', 'error-after-chunks:2')],
        'acme/quota': [route('globex', 'error-429:insufficient_quota')],
        'acme/stalled': [route('stalled', 'stall:3')],
        'acme/reset': [route('acme', 'reset')],
      },
      workspace: { functions: [promptFunction('label', 'acme/rescued')] },
      moreWorkspaces: [{ id: 'strict', credit_usd: '1', data_policy: { zdr: true } }],
    });
  });
  afterAll(() => harness?.stop());

  const linesOf = async (body: object, headers: Record<string, string> = {}) =>
    linesAbout(await harness.post(body, headers));

  async function linesAbout(response: Response) {
    const text = await response.text();
    const id = response.headers.get('x-request-id');
    const isOfCall = (line: string) => line.includes(`"correlation_id":"${id}"`);
    const isEnd = (line: string) => isOfCall(line) && line.includes('"event":"request"');
    // The line follows the settlement, which follows the last byte.
    while (!harness.logLines.some(isEnd)) await (await harness.get('/models')).text();
    const lines = harness.logLines.filter(isOfCall).map((line) => JSON.parse(line) as Line);
    const request = lines.find(({ event }) => event === 'request') ?? {};
    return { text, id, request, attempts: lines.filter(({ event }) => event === 'attempt_failed') };
  }

  it('name every provider that was tried, its outcome and its time', async () => {
    const { request, attempts, text } = await linesOf(hello('acme/rescued'));
    expect(request).toMatchObject({
      status: 200,
      outcome: 'ok',
      key_name: 'first',
      provider_path: 'globex status_500 → acme',
      provider_attempts: expect.stringMatching(/^globex:status_500:500:\d+ acme:ok:200:\d+$/),
    });
    expect(attempts).toMatchObject([
      {
        level: 'info',
        provider: 'globex',
        model: 'acme/rescued',
        outcome: 'status_500',
        status: 500,
        message: 'server_error: The server had an error while processing your request. Sorry about that!',
        FailedAttempts: 1,
      },
    ]);
    expect(text).not.toContain('Sorry');
  });

  it.each([false, true])('say that a provider refused the key, and hold nothing of it (stream: %s)', async (stream) => {
    const { request, attempts, text } = await linesOf(hello('acme/wrong-key', { stream }));
    expect(request).toMatchObject({
      outcome: 'no_available_provider',
      provider_path: 'globex status_401 (key refused)',
    });
    expect(attempts).toMatchObject([
      { reason: 'key_refused', message: expect.stringMatching(/^invalid_api_key: Incorrect API key provided: …/) },
    ]);
    expect(text).not.toContain('Incorrect API key');
    expect(harness.simulator.calls.at(-1)?.headers.authorization).toBe(`Bearer ${credential}`);
    expect(harness.logLines.join('')).not.toContain(credential);
  });

  it.each([
    ['acme/html', '502 Bad Gateway 502 Bad Gateway nginx', 'nginx'],
    ['acme/quota', 'insufficient_quota: You exceeded your current quota.', 'exceeded your'],
  ])('hold what the providers of %s said, and the answer does not', async (model, message, words) => {
    const { attempts, text } = await linesOf(hello(model));
    expect(attempts[0]?.message).toEqual(expect.stringContaining(message));
    expect(text).not.toContain(words);
  });

  it('count a rejected request for no provider, and hold what was said of it, as the answer does', async () => {
    const { attempts, text } = await linesOf(hello('acme/rejected'));
    expect(attempts[0]?.message).toEqual(expect.stringContaining("invalid_value: Invalid value: 'robot'."));
    expect(text).toContain("The provider said: Invalid value: 'robot'.");
    expect(attempts.map(({ FailedAttempts: failedAttempts }) => failedAttempts)).toEqual([0, 0]);
  });

  it('hold the words with which a stream broke after its first output', async () => {
    const { request, attempts, text } = await linesOf(hello('acme/late', { stream: true }));
    expect(request).toMatchObject({ status: 200, outcome: 'cut', 'error.type': 'no_available_provider', stream: true });
    expect(attempts).toMatchObject([{ outcome: 'error_object', message: expect.stringContaining('Sorry about that') }]);
    expect(text).not.toContain('Sorry');
  });

  it('hold no word of a provider if the data policy keeps nothing', async () => {
    const body = hello('acme/rescued', { provider: { zdr: true, order: ['globex', 'acme'] } });
    const fresh = await startHarness({
      providers: {
        globex: { auth: { bearer: { env: 'GW_TEST_OPERATOR_LINES' } }, data_policy: { zdr: true } },
        acme: { data_policy: { zdr: true } },
      },
      models: {
        'acme/rescued': [
          { provider: 'globex', upstream: 'error-500' },
          { provider: 'acme', upstream: 'echo' },
        ],
      },
    });
    expect((await fresh.post(body)).status).toBe(200);
    await fresh.settled();
    const [attempt] = fresh.logLines.filter((line) => line.includes('attempt_failed'));
    expect(JSON.parse(attempt ?? '')).toMatchObject({ outcome: 'status_500' });
    expect(attempt).not.toContain('Sorry');
  });

  it('say where an answer is from that existed already, whose call it was, and of a replay no provider', async () => {
    const attributes = { key_name: 'first', 'gen_ai.request.model': 'acme/echo', 'gen_ai.response.model': 'acme/echo' };
    const cached = hello('acme/echo', { cache: { enabled: true, ttl: 60 } });
    expect((await linesOf(cached)).request).not.toHaveProperty('cache');
    expect((await linesOf(cached)).request).toMatchObject({ ...attributes, cache: 'HIT', outcome: 'ok' });
    const once = { 'idempotency-key': 'lines-of-a-replay' };
    expect((await linesOf(hello('acme/echo'), once)).request).not.toHaveProperty('idempotent_replayed');
    const { request } = await linesOf(hello('acme/echo'), once);
    expect(request).toMatchObject({ ...attributes, idempotent_replayed: true, outcome: 'ok', stream: false });
    expect(request).not.toHaveProperty('gen_ai.provider.name');
  });

  it('name the key and the model of a call that was refused', async () => {
    const { request } = await linesOf(hello('acme/unknown'));
    expect(request).toMatchObject({ status: 400, key_name: 'first', 'gen_ai.request.model': 'acme/unknown' });
    expect(request).not.toHaveProperty('provider_path');
  });

  it('name the function that was called, and the model that answered', async () => {
    const { request } = await linesOf(hello('gw/function/label'));
    expect(request).toMatchObject({
      outcome: 'ok',
      function_id: 'label',
      'gen_ai.request.model': 'gw/function/label',
      'gen_ai.response.model': 'acme/rescued',
    });
    const refusalLines = await linesOf(hello('gw/function/none'));
    expect(refusalLines.request).toMatchObject({
      outcome: 'function_not_found',
      'gen_ai.request.model': 'gw/function/none',
    });
  });

  it.each([
    ['acme/stalled', 'stalled timeout'],
    ['acme/reset', 'acme connection (reset)'],
  ])('say in one word how the provider of %s failed', async (model, path) => {
    const { request, attempts } = await linesOf(hello(model));
    expect(request).toMatchObject({ outcome: 'no_available_provider', provider_path: path });
    expect(attempts).toMatchObject([{ outcome: path.split(' ')[1] }]);
  });

  it.each([
    ['/chat/completions', 405, 'method_not_allowed', '/v1/chat/completions'],
    ['/chat/completion?key=sk-gw-0123456789abcdefgh', 404, 'not_found', '/v1/chat/completion'],
    ['/generation?id=none', 404, 'not_found', '/v1/generation'],
    ['/sk-gw-0123456789abcdefgh', 404, 'not_found', '/v1/sk-…'],
  ])('say that GET %s was refused, and its path without a key', async (path, status, outcome, route) => {
    const { request } = await linesAbout(await harness.get(path));
    expect(request).toMatchObject({ status, outcome, 'error.type': outcome, route, method: 'GET' });
    expect(JSON.stringify(request)).not.toContain('0123456789');
  });

  it('hold no prompt and no answer', () => {
    expect(harness.logLines.join('')).not.toContain('Hello');
  });
});

// The metrics that a request's log line declares: each combination of metric and dimensions costs money every month.
describe('metrics', () => {
  interface Usage {
    readonly usage: { readonly completion_tokens: number };
  }

  interface Line {
    readonly outcome: string;
    readonly _aws: {
      readonly CloudWatchMetrics: ReadonlyArray<{
        readonly Namespace: string;
        readonly Dimensions: ReadonlyArray<readonly string[]>;
        readonly Metrics: ReadonlyArray<{ readonly Name: string; readonly Unit: string }>;
      }>;
    };
    readonly [member: string]: unknown;
  }

  /** The bound of metrics times sets of dimensions. */
  const declaredMax = 12;

  describe('the log line of a request', () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await startHarness({
        models: {
          'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
          'acme/failing': [{ provider: 'acme', upstream: 'error-500' }],
        },
        providers: { acme: {} },
      });
    });
    afterAll(() => harness?.stop());

    /** Returns the log line of a call, which appears after the answer: the first new line. */
    const lineOf = async (body: object, headers?: Record<string, string>): Promise<Line> => {
      const before = harness.logLines.length;
      const response = await harness.post(body, headers);
      const text = await response.text();
      if (text.includes('data: ')) expect(dataLines(text).at(-1)).toBe('[DONE]');
      const id = response.headers.get('x-request-id');
      const isLine = (line: string) => line.includes('"event":"request"') && line.includes(`"correlation_id":"${id}"`);
      for (let round = 0; round < 100 && !harness.logLines.slice(before).some(isLine); round += 1) {
        await (await harness.get('/models')).text();
      }
      return JSON.parse(harness.logLines.slice(before).find(isLine) ?? '') as Line;
    };
    /** Returns the declared metrics as `stage+provider: Requests Errors …`. */
    const declared = ({ _aws }: Line): string[] =>
      _aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
        Dimensions.map((by) => `${by.join('+')}: ${Metrics.map(({ Name }) => Name).join(' ')}`),
      );
    const countDeclared = (line: Line) =>
      declared(line)
        .join(' ')
        .split(' ')
        .filter((word) => !word.endsWith(':')).length;

    it('of every call that waited for the start of its process says so and declares no time of the gateway', async () => {
      const calls = [hello('acme/echo'), hello('acme/echo', { stream: true })];
      for (const line of await Promise.all(calls.map((body) => lineOf(body)))) {
        expect(line).toMatchObject({ cold_start: true, outcome: 'ok', gateway_ms: expect.any(Number) });
        expect(line).not.toHaveProperty('GatewayTime');
        expect(declared(line)[0]).toMatch(/^stage: Requests Errors TotalTime( TimeToFirstOutput)? InputTokens/);
        expect(countDeclared(line)).toBeLessThanOrEqual(declaredMax);
      }
      expect(await lineOf(hello('acme/echo'))).toMatchObject({ cold_start: false, GatewayTime: expect.any(Number) });
    });

    it('declares everything by stage, two metrics by provider and one by outcome: twelve at most', async () => {
      const line = await lineOf(hello('acme/echo', { stream: true }));
      expect(declared(line)).toEqual([
        'stage: Requests Errors TotalTime GatewayTime TimeToFirstOutput InputTokens OutputTokens CostMicroUsd',
        'stage+provider: Requests CostMicroUsd',
        'stage+outcome_class: Requests',
      ]);
      expect(countDeclared(line)).toBeLessThanOrEqual(declaredMax);
      expect(line).toMatchObject({ Requests: 1, Errors: 0, provider: 'acme', outcome: 'ok', outcome_class: 'ok' });
      for (const { Namespace, Metrics } of line._aws.CloudWatchMetrics) {
        expect(Namespace).toBe('gw');
        for (const { Name } of Metrics) expect(typeof line[Name]).toBe('number');
      }
    });

    it('declares no metric without a value and no provider if none was called', async () => {
      const line = await lineOf(hello('acme/unknown'));
      expect(declared(line)).toEqual(['stage: Requests Errors TotalTime', 'stage+outcome_class: Requests']);
      expect(line).not.toHaveProperty('provider');
    });

    it('and a streamed token are as long as the costs of the README count them, to a tenth', async () => {
      const text = await (await harness.post(hello('acme/echo', { stream: true, usage: { include: true } }))).text();
      const { completion_tokens: tokens } = (JSON.parse(dataLines(text).at(-2) ?? '') as Usage).usage;
      expect(Math.abs(Buffer.byteLength(text) / tokens / streamBytesPerToken - 1)).toBeLessThan(0.1);
      const { length } = JSON.stringify(await lineOf(hello('acme/echo', { stream: true })));
      expect(Math.abs(length / logLineBytes - 1)).toBeLessThan(0.1);
    });

    it('counts an error for every answer that a client takes for one, as the alarm on errors of the URLs needs', async () => {
      const method = await harness.get('/chat/completions');
      const id = method.headers.get('x-request-id');
      const lineFor = () => harness.logLines.find((line) => line.includes(`"correlation_id":"${id}"`));
      for (let round = 0; round < 100 && lineFor() === undefined; round += 1) await harness.get('/models');
      expect([method.status, JSON.parse(String(lineFor())).Errors]).toEqual([405, 1]);
    });

    it('counts refusals that the client caused together, and failures of ours by their code', async () => {
      const unknown = await lineOf(hello('acme/unknown'));
      expect(unknown).toMatchObject({ outcome: 'unknown_model', outcome_class: 'client_error' });
      const refusalLine = await lineOf(hello('acme/echo'), { authorization: 'Bearer sk-gw-nothing' });
      expect(refusalLine).toMatchObject({ outcome: 'UNAUTHORIZED', outcome_class: 'client_error' });
      const failed = await lineOf(hello('acme/failing'));
      expect(failed).toMatchObject({ outcome: 'no_available_provider', outcome_class: 'no_available_provider' });
    });
  });
});
