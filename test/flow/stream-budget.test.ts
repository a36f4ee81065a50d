// The stream budget of a stage: how long a stream may go on after its first output, and what follows from it. Tests
// move the clock by hand, so nothing here waits.
import { afterAll, beforeEach, describe, expect, it } from '#jest';
import { callTimes, keepAliveCommentMs } from '../../shared/foundation/constants/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { readRest, readStream, readUntil } from '../support/read-stream.ts';
import { translatedInterfaces } from '../support/spoken-interfaces.ts';
import { eventually, type WatchedClock, watchedClock } from '../support/watched-clock.ts';

const streamBudgetSeconds = 300;
const apis = ['chat-completions', ...translatedInterfaces.map(({ api }) => api)];
const patience = { idle_timeout_ms: 3_600_000, first_chunk_timeout_ms: 3_600_000 };
const slowPrices = {
  ...{ input_price_per_million: '0', output_price_per_million: '0', supported_params: {} },
  ...{ input_price_per_character: '0.00001', input_price_per_second: '0.0001', image_prices: { default: '0.01' } },
};
const comment = ': keep-alive\n\n';

let clock: WatchedClock;
let gateway: Harness;
const started: Harness[] = [];
afterAll(async () => {
  for (const one of started) await one.stop();
});

async function start(workspace: Record<string, unknown> = {}): Promise<void> {
  clock = watchedClock();
  gateway = await startHarness({
    clock,
    streamBudgetSeconds,
    workspace,
    models: {
      ...Object.fromEntries(apis.map((api) => [`${api}/endless`, [{ provider: api, upstream: 'endless:1' }]])),
      ...Object.fromEntries(apis.map((api) => [`${api}/silent`, [{ provider: api, upstream: 'silent' }]])),
      'acme/stall': [{ provider: 'patient', upstream: 'stall:1' }],
      'acme/held': [{ provider: 'patient', upstream: 'stall:1' }],
      'acme/echo': [{ provider: 'patient', upstream: 'echo' }],
      'gemini/stall': [{ provider: 'generate-content', upstream: 'stall:1' }],
      'slow/silent': [{ provider: 'slow', upstream: 'silent', more: slowPrices }],
    },
    // These limits are longer than the budget, so that one move of the clock meets the deadline first.
    providers: Object.fromEntries([
      ['patient', patience],
      ['slow', { ...patience, apis: ['images', 'speech', 'transcriptions'] }],
      ...apis.map((api) => [api, { ...patience, apis: [api] }]),
    ]),
  });
  started.push(gateway);
}

const calls = () => gateway.simulator.calls;
const firstCall = () => gateway.simulator.until((loggedCalls) => loggedCalls.length === 1);

describe('a stage with a stream budget of 300 seconds', () => {
  beforeEach(() => start());

  it('lets a stream go on past 55 seconds, and cuts it at 300 with an error line, whatever its provider speaks', async () => {
    const open = async (api: string) =>
      readUntil(await gateway.post(hello(`${api}/endless`, { stream: true })), 'and on ');
    const readers = await Promise.all(apis.map(open));
    clock.advance(299_999);
    // This is far more than had been sent when the clock moved: a chunk comes every millisecond.
    for (let chunk = 0; chunk < 50; chunk += 1)
      for (const reader of readers) expect((await reader.read()).done).toBe(false);
    expect(calls().map(({ closedEarly }) => closedEarly)).toEqual(apis.map(() => false));
    clock.advance(1);
    for (const reader of readers) {
      const rest = await readRest(reader);
      expect(rest).toContain('{"error":{"code":"request_deadline_exceeded"');
      expect(rest.endsWith('data: [DONE]\n\n')).toBe(true);
    }
    await gateway.settled();
    await expectBalancedBooks(gateway);
    const ends = (await gateway.records()).map(({ outcome, cutCode, totalMs }) => ({ outcome, cutCode, totalMs }));
    expect(ends).toEqual(apis.map(() => ({ outcome: 'cut', cutCode: 'request_deadline_exceeded', totalMs: 300_000 })));
  });

  it.each([true, false])('gives up after 55 seconds if no output has come: stream %s', async (stream) => {
    const answers = apis.map((api) => gateway.post(hello(`${api}/silent`, { stream })));
    await gateway.simulator.until((loggedCalls) => loggedCalls.length === apis.length);
    clock.advance(54_999);
    expect(calls().map(({ closedEarly }) => closedEarly)).toEqual(apis.map(() => false));
    clock.advance(1);
    for (const answer of answers) {
      const { headers } = await answer;
      expect([headers.get('x-should-retry'), headers.get('retry-after')]).toEqual(['false', null]);
      await expectError(await answer, 504, 'request_deadline_exceeded');
    }
    await gateway.simulator.until((loggedCalls) => loggedCalls.every(({ closedEarly }) => closedEarly));
    expect(calls()).toHaveLength(apis.length);
  });

  it('cuts a JSON answer that has begun after 55 seconds', async () => {
    const answer = gateway.post(hello('acme/stall'));
    await firstCall();
    clock.advance(55_000);
    await expectError(await answer, 504, 'request_deadline_exceeded');
  });

  it('gives a whole image, edit, speech and transcription all of the budget, and an image in events likewise', async () => {
    const model = 'slow/silent';
    const file = new FormData();
    file.append('model', model);
    file.append('file', new File([new Uint8Array(100)], 'a.wav', { type: 'audio/wav' }));
    const headers = { authorization: `Bearer ${gateway.key}` };
    const answers = [
      gateway.postTo('/images/generations', { model, prompt: 'A lighthouse' }),
      gateway.postTo('/images/generations', { model, prompt: 'A lighthouse', stream: true }),
      gateway.postTo('/images/edits', {
        model,
        prompt: 'At night',
        images: [{ image_url: 'data:image/png;base64,AA==' }],
      }),
      gateway.postTo('/audio/speech', { model, input: 'Good day', voice: 'a' }),
      fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: file }),
    ];
    await gateway.simulator.until((loggedCalls) => loggedCalls.length === answers.length);
    clock.advance(299_999);
    expect(calls().map(({ closedEarly }) => closedEarly)).toEqual(answers.map(() => false));
    clock.advance(1);
    for (const answer of answers) await expectError(await answer, 504, 'request_deadline_exceeded');
    await gateway.simulator.until((loggedCalls) => loggedCalls.every(({ closedEarly }) => closedEarly));
  });

  it('keeps a silent stream alive with comments, none of them sent before the first output', async () => {
    const response = await gateway.post(hello('acme/stall', { stream: true }));
    const reader = await readUntil(response, 'Hello');
    for (let silences = 0; silences < 3; silences += 1) {
      // One timer runs since the opening, and each comment starts one more.
      await clock.waitsFor((delayMs) => delayMs === keepAliveCommentMs, 1 + silences);
      clock.advance(keepAliveCommentMs);
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toBe(comment);
    }
    clock.advance(streamBudgetSeconds * 1_000);
    expect(await readRest(reader)).toContain('"request_deadline_exceeded"');
  });

  it('keeps a silent stream of Messages alive with pings, if a provider of another interface sends none', async () => {
    const body = JSON.stringify(hello('gemini/stall', { stream: true, max_tokens: 100 }));
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
    const response = await fetch(`${gateway.url}/messages`, { method: 'POST', headers, body });
    const reader = await readUntil(response, 'Hello');
    await clock.waitsFor((delayMs) => delayMs === keepAliveCommentMs);
    clock.advance(keepAliveCommentMs);
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    clock.advance(streamBudgetSeconds * 1_000);
    expect(await readRest(reader)).toContain('"request_deadline_exceeded"');
  });

  it('sends no comment in a stream that is not silent, and stores none', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await readStream(await gateway.post(hello('acme/echo', { stream: true }), headers));
    await gateway.settled();
    const replay = await gateway.post(hello('acme/echo', { stream: true }), headers);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(await replay.text()).toBe(first.text);
    expect(first.text).not.toContain(comment);
  });
});

describe('what a process held that died in the middle of a stream', () => {
  const { holdLifeMs } = callTimes(streamBudgetSeconds);
  const ask = hello('acme/held', { stream: true, max_tokens: 100 });

  it('comes back within a fifteenth of the lease of the stage, and not before', async () => {
    // The credit covers one call, not two.
    await start({ credit_usd: '0.0003' });
    const client = new AbortController();
    // To other processes this call's process has died, because its clock stands still.
    const lostCall = await gateway.post(ask, { 'idempotency-key': 'held' }, client.signal);
    const reader = await readUntil(lostCall, 'Hello');
    const ahead = manualClock(clock.nowMs());
    const alive = await gateway.open({ clock: ahead });
    ahead.advance(holdLifeMs - 1);
    await expectError(await alive.post(ask, { 'idempotency-key': 'held' }), 409, 'execution_in_progress');
    await expectError(await alive.post(ask), 402, 'PAYMENT_REQUIRED');
    expect(calls()).toHaveLength(1);
    ahead.advance(1 + holdLifeMs / 15);
    const secondReader = await readUntil(await alive.post(ask, { 'idempotency-key': 'held' }), 'Hello');
    expect(calls()).toHaveLength(2);
    clock.advance(streamBudgetSeconds * 1_000);
    ahead.advance(streamBudgetSeconds * 1_000);
    await Promise.all([readRest(reader), readRest(secondReader)]);
    await eventually(() => calls().every(({ ended }) => ended));
    await Promise.all([gateway.settled(), alive.settled()]);
    await expectBalancedBooks(gateway);
  });
});
