// The record of a call: who, what, how long, how much. Its exact members, and nothing else.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { uuid } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the record of a call', () => {
  let harness: Harness;
  let clock: ManualClock;

  beforeAll(async () => {
    clock = manualClock();
    const more = { cached_input_price_per_million: '0.50' };
    harness = await startHarness({
      clock,
      models: {
        'acme/cached': [{ provider: 'acme', upstream: 'usage:1000:500:400', more }],
        'acme/bad': [
          { provider: 'acme', upstream: 'error-503' },
          { provider: 'worse', upstream: 'error-429:x:7', more: { output_price_per_million: '9' } },
        ],
      },
      modelMembers: { 'acme/cached': { auto: true } },
    });
  });
  afterAll(() => harness.stop());

  it('has exactly these members after an answer', async () => {
    const headers = {
      traceparent,
      'x-gw-span-id': 'span-1',
      'x-gw-parent-span-id': 'parent-1',
      'x-session-id': 'session-1',
      'http-referer': 'https://user:secret@app.example/path?token=secret#secret',
      'x-title': 'My app',
    };
    const response = await harness.post(hello('auto', { user: 'u', temperature: 0 }), headers);
    expect(await outcomeOf(response)).toBe('ok');
    await harness.settled();
    const [record, ...others] = await harness.records();
    expect(others).toEqual([]);
    expect(record).toEqual({
      workspace: 'team',
      interfaceId: 'chat-completions',
      format: 'chat-completions',
      executionId: expect.stringMatching(uuid),
      arrivedAtMs: clock.nowMs(),
      keyPublicId: parseApiKey(harness.key)?.publicId,
      keyName: 'first',
      referer: 'https://app.example/path',
      title: 'My app',
      correlationId: response.headers.get('x-request-id'),
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: 'span-1',
      parentSpanId: 'parent-1',
      sessionId: 'session-1',
      user: 'u',
      modelAsked: 'auto',
      modelServed: 'acme/cached',
      provider: 'acme',
      stream: false,
      cacheHit: false,
      isByok: false,
      outcome: 'ok',
      attempts: 1,
      basePath: '/v1',
      attemptCauses: [],
      attemptLog: [{ provider: 'acme', outcome: 'ok', status: 200, ms: 0 }],
      promptTokens: 1000,
      cachedTokens: 400,
      cacheWriteTokens: 0,
      completionTokens: 500,
      reasoningTokens: 0,
      estimated: false,
      // 600 at 1 USD, 400 at 0.50 USD and 500 at 2 USD a million.
      costPicoUsd: 1_800_000_000n,
      queuedMs: 0,
      firstOutputMs: 0,
      totalMs: 0,
      gatewayMs: 0,
    });
  });

  it('names what failed in words of ours, and no provider that did not answer', async () => {
    expect(await outcomeOf(await harness.post(hello('acme/bad', { stream: true })))).toBe('no_available_provider');
    await harness.settled();
    const record = (await harness.records()).find(({ modelAsked }) => modelAsked === 'acme/bad');
    expect(record).toMatchObject({
      outcome: 'no_available_provider',
      attempts: 2,
      attemptCauses: [expect.stringMatching(/^[a-z0-9_]+$/), expect.stringMatching(/^[a-z0-9_]+$/)],
      stream: true,
      costPicoUsd: 0n,
      errorMessage: expect.stringMatching(/^All eligible providers failed\./),
    });
    expect(record).not.toHaveProperty('provider');
    expect(record).not.toHaveProperty('modelServed');
  });

  it('holds no prompt, no answer and no key, and no table does', async () => {
    const secrets = ['prompt-canary-17', 'system-canary-18', 'tool-canary-19', 'metadata-canary-20'];
    const body = {
      model: 'acme/cached',
      messages: [
        { role: 'system', content: secrets[1] },
        { role: 'user', content: secrets[0] },
      ],
      tools: [{ type: 'function', function: { name: secrets[2] } }],
      metadata: { note: secrets[3] },
    };
    expect(await outcomeOf(await harness.post(body))).toBe('ok');
    await harness.settled();
    const dump = await harness.testStore.dumpTables();
    const log = harness.logLines.join('');
    for (const secret of [...secrets, harness.key, harness.key.slice(-49)]) {
      expect(dump).not.toContain(secret);
      expect(log).not.toContain(secret);
    }
  });
});
