// Providers that send nothing, or nothing more. Tests move the clock by hand, so nothing here waits.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { gatherBatches, openStream } from '../../functions/gateway/provider/open-stream.ts';
import { limitSilence } from '../../functions/gateway/provider/silence.ts';
import { withKeepAlive } from '../../functions/gateway/response/keep-alive.ts';
import { formats } from '../../infra/local/simulator/formats/known-formats.ts';
import { createCallsUnderWay } from '../../shared/accounting/slots/index.ts';
import { startDeadline } from '../../shared/foundation/time/index.ts';
import { chatCompletions } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { createMemoryBudget, openAnswerReservation } from '../../shared/protocol/memory-budget/index.ts';
import { readEvents } from '../../shared/protocol/wire/index.ts';
import { type EventBatch, readStream as readBatches, startWatch } from '../../shared/routing/providers/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { contentOf, readStream } from '../support/read-stream.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { type SpokenInterface, spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';
import { watchedClock } from '../support/watched-clock.ts';

/**
 * Two formats suffice, because the work is the same for all: a relayed format, and a translated one whose stream has
 * frames of its own.
 */
const clientInterfaces = [...spokenInterfaces, ...translatedInterfaces].filter(
  ({ name }) => name === 'chat completions' || name === 'chat completions for converse',
);

describe.each(clientInterfaces)('a silent provider of $name', ({ hello, ...speaks }) => {
  let clock: ManualClock;
  let gateway: Harness;
  const started: Harness[] = [];

  beforeEach(async () => {
    clock = manualClock();
    const dear = { output_price_per_million: '9.00' };
    const good = { provider: 'good', upstream: 'echo', more: dear };
    gateway = await startHarness({
      clock,
      speaks,
      models: {
        'backed/silent': [{ provider: 'slow', upstream: 'silent' }, good],
        'backed/stall': [{ provider: 'slow', upstream: 'stall:3' }, good],
        'backed/role': [{ provider: 'slow', upstream: 'stall-after-role' }, good],
        'backed/comments': [{ provider: 'slow', upstream: 'trickle-comments:1' }, good],
        'three/silent': [
          { provider: 'slow', upstream: 'silent' },
          { provider: 'slower', upstream: 'silent', more: dear },
          { ...good, more: { output_price_per_million: '99' } },
        ],
      },
    });
    started.push(gateway);
  });
  afterAll(async () => {
    for (const one of started) await one.stop();
  });

  const calls = () => gateway.simulator.calls;
  const untilCalls = (count: number) => gateway.simulator.until((calls) => calls.length === count);
  const callEnd = (provider: string) =>
    gateway.simulator.until((calls) => calls.some((call) => call.provider === provider && call.closedEarly));

  it('and another silent one are given up early enough to leave ten seconds to each that is behind them', async () => {
    const answer = gateway.post(hello('three/silent'));
    await untilCalls(1);
    clock.advance(34_999);
    // A call that had ended would show by then.
    await (await gateway.get('/models')).text();
    expect(calls().map(({ ended }) => ended)).toEqual([false]);
    clock.advance(1);
    await untilCalls(2);
    expect(calls().map(({ provider }) => provider)).toEqual(['slow', 'slower']);
    clock.advance(10_000);
    expect((await (await answer).json()) as object).toMatchObject({ usage: { provider: 'good', attempts: 3 } });
    await callEnd('slow');
  });

  it('in a stream is given up after its first-chunk time, role and comments or not', async () => {
    const sentPatterns: readonly (readonly [model: string, sent: RegExp])[] = [
      ['backed/silent', /^$/],
      ['backed/role', /"assistant"(?![\s\S]*Hello)/],
      // Converse has no comments.
      ['backed/comments', speaks.api === 'converse' ? /^$/ : /^(: keep-alive\n\n)+$/],
    ];
    for (const [model, answerText] of sentPatterns) {
      gateway.simulator.clear();
      const answer = gateway.post(hello(model, { stream: true }));
      await untilCalls(1);
      clock.advance(20_000);
      const { lines, text, headers } = await readStream(await answer);
      expect(headers.get('x-gw-provider')).toBe('good');
      expect(contentOf(lines)).toContain('simulated by the provider good');
      expect(text).not.toMatch(/"error"|keep-alive/);
      await callEnd('slow');
      expect(calls()[0]?.answerText).toMatch(answerText);
    }
  });

  it('that stalls in the middle of a JSON answer is replaced after its idle time', async () => {
    const answer = gateway.post(hello('backed/stall'));
    await gateway.simulator.until((calls) => calls[0]?.provider === 'slow');
    // Half of the body has been sent; its arrival starts the idle time, so both limits pass here.
    clock.advance(45_000);
    expect((await (await answer).json()) as object).toMatchObject({ usage: { provider: 'good', attempts: 2 } });
    const sentText = calls()[0]?.answerText ?? '';
    expect(sentText).toMatch(/^\{"/);
    expect(() => JSON.parse(sentText)).toThrow('JSON');
  });
});

describe('a provider after its first output', () => {
  const all = [...spokenInterfaces, ...translatedInterfaces];
  const idOf = ({ id, api }: SpokenInterface) => `${id}-${api}`;
  const idleMs = 14_000;
  const clock = watchedClock();
  let gateway: Harness;
  let provider: ScriptedProvider;
  /** Resolves with the later half of a simulated answer, which waits for the test. */
  let sendRest: PromiseWithResolvers<{ readonly rest: Uint8Array; readonly outgoing: ServerResponse }>;

  beforeAll(async () => {
    provider = await startScriptedProvider(async (outgoing, call) => {
      const { url, headers } = outgoing.req;
      const version = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
      const request = { method: 'POST', headers: version, body: provider.bodies[call] ?? '' };
      const answer = await fetch(`${gateway.simulator.urlOf('any')}${url?.slice('/v1'.length)}`, request);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      // The bytes are cut between two events if events are text.
      const half = bytes.length / 2;
      const end = headers.accept === 'text/event-stream' ? Buffer.from(bytes).indexOf('\n\n', half) + 2 : half;
      outgoing.writeHead(200, { 'content-type': answer.headers.get('content-type') ?? '' });
      outgoing.write(bytes.subarray(0, end));
      sendRest.resolve({ rest: bytes.subarray(end), outgoing });
    });
    const entry = { base_url: provider.url, idle_timeout_ms: idleMs };
    gateway = await startHarness({
      clock,
      streamBudgetSeconds: 840,
      models: Object.fromEntries(all.map((one) => [`model/${idOf(one)}`, [{ provider: idOf(one), upstream: 'echo' }]])),
      providers: Object.fromEntries(all.map((one) => [idOf(one), { ...entry, apis: [one.api] }])),
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await provider.stop();
  });

  /** Opens a stream whose first half has come, so that the gateway waits for more. */
  async function openHalf({ path, hello, ...clientInterface }: SpokenInterface) {
    sendRest = Promise.withResolvers();
    clock.forget();
    const response = await gateway.postTo(
      path,
      hello(`model/${idOf({ path, hello, ...clientInterface })}`, { stream: true }),
    );
    const text = response.text();
    await clock.waitsFor((delayMs) => delayMs === idleMs);
    const { rest, outgoing } = await sendRest.promise;
    /** Moves the clock nearly to the end of the idle time, and sends bytes that are no output. */
    const sendLate = async (bytes: string | Uint8Array) => {
      clock.advance(idleMs - 1);
      clock.forget();
      outgoing.write(bytes);
      // If the gateway cut the stream, the text ends.
      await Promise.race([clock.waitsFor((delayMs) => delayMs === idleMs), text]);
    };
    return { text, rest, outgoing, sendLate };
  }

  it.each(all)('is alive as long as bytes come, pings and parts of an event too: $name', async (clientInterface) => {
    const { text, rest, outgoing, sendLate } = await openHalf(clientInterface);
    const { keepAlive = '' } = formats.find(({ name }) => name === clientInterface.api) ?? {};
    // Converse has no pings.
    expect(keepAlive === '').toBe(clientInterface.api === 'converse');
    const late = [
      ...Array<string>(keepAlive === '' ? 0 : 4).fill(keepAlive),
      ...[0, 1, 2, 3].map((at) => rest.subarray(at, at + 1)),
    ];
    for (const bytes of late) await sendLate(bytes);
    outgoing.end(rest.subarray(4));
    expect(clientInterface.brokenWith(await text)).toBeUndefined();
    expect(clientInterface.contentOf(await text)).toMatch(/^Hello!.*one by one\.$/);
  });
});

// A client reads slowly: its pause does not count as the provider's silence.
const event = (delta: object, finish_reason: string | null = null) =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);

function open(pieces: readonly (Buffer | Promise<Buffer>)[], calls = 1) {
  const callsUnderWay = createCallsUnderWay();
  for (let call = 0; call < calls; call += 1) callsUnderWay.enter('key');
  const clock = manualClock();
  const deadline = startDeadline(clock, clock.nowMs(), 55_000);
  const watch = startWatch(clock, deadline, { clientGone: new AbortController().signal });
  async function* body(): AsyncGenerator<Buffer> {
    for (const piece of pieces) yield piece;
  }
  const provider = { idle_timeout_ms: 15_000 };
  const silence = limitSilence(clock, watch, { provider, isStream: true, limitMs: Number.POSITIVE_INFINITY });
  const bytes = silence.timed(body());
  const unread = { describe: () => undefined, onEnd: () => {}, onEvent: () => {} };
  const batches = readBatches(readEvents(bytes, 100_000), chatCompletions.openEventReader(1), unread);
  const memory = openAnswerReservation(() => createMemoryBudget(clock).open().openAnswer(), {
    ...{
      path: { isTranslated: false, isGuarded: false },
      signal: watch.signal,
      clientGone: watch.signal,
      streamCopies: [],
    },
  });
  const opened = openStream({ clock, callsUnderWay }, { batches, drain: () => {} }, { watch, silence, memory }).then(
    (stream) => {
      if ('kind' in stream) throw new Error(`it is a ${stream.kind}`);
      return stream;
    },
  );
  return { clock, watch, opened };
}

describe('a stream that comes fast', () => {
  it.each([
    [15, 'is read as it comes'],
    [16, 'is read every four milliseconds, and one that comes slower as it comes'],
  ])('in a process with %i calls %s', async (calls) => {
    const { clock, opened } = open(
      ['a', 'b', 'c', 'd'].map((content) => event({ content })),
      calls,
    );
    const { rest } = await opened;
    const reader = rest[Symbol.asyncIterator]();
    await reader.next();
    let isRead = false;
    const next = reader.next().then(() => (isRead = true));
    for (const afterMs of [3, 1]) {
      await new Promise(setImmediate);
      expect(isRead).toBe(calls === 15);
      clock.advance(afterMs);
    }
    await next;
    clock.advance(4);
    expect((await reader.next()).value).toMatchObject({ events: [expect.anything()] });
  });

  it('ends when its reader stops, its batches too', async () => {
    let isLeft = false;
    async function* batches(): AsyncGenerator<EventBatch, void, undefined> {
      try {
        for (;;) yield { events: [] };
      } finally {
        isLeft = true;
      }
    }
    for await (const _batch of gatherBatches(batches(), manualClock(), () => true)) break;
    expect(isLeft).toBe(true);
  });
});

describe('a stream whose reader pauses', () => {
  it('is not given up, before the first piece is read nor between two', async () => {
    const { clock, watch, opened } = open([event({ content: 'a' }), event({ content: 'b' }), event({}, 'stop')]);
    const { rest } = await opened;
    clock.advance(20_000);
    for await (const _batch of rest) clock.advance(16_000);
    expect(watch.endedBy()).toBeUndefined();
    expect(watch.signal.aborted).toBe(false);
  });

  it('is given up all the same if the provider is the silent one', async () => {
    const { clock, watch, opened } = open([event({ content: 'a' }), new Promise<Buffer>(() => {})]);
    const { rest } = await opened;
    const next = rest[Symbol.asyncIterator]().next();
    clock.advance(15_000);
    expect(watch.endedBy()).toBe('idle');
    void next;
  });
});

describe('a silent stream that is kept alive', () => {
  it('loses no line that comes while its client reads the sign of life', async () => {
    const clock = manualClock();
    const line = Promise.withResolvers<string>();
    async function* lines() {
      yield { text: await line.promise, isEnd: false };
    }
    const next = withKeepAlive(clock, lines(), 'alive');
    const first = next();
    clock.advance(60_000);
    expect(await first).toEqual({ value: { text: 'alive', isEnd: false } });
    line.resolve('line');
    await line.promise;
    expect(await next()).toEqual({ value: { text: 'line', isEnd: false }, done: false });
    expect(await next()).toEqual({ value: undefined, done: true });
  });
});
