// While a call is settled, and the store is slow, the process keeps no answer that was sent, and counts a request as
// long as something refers to it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { collectGarbage } from '../../shared/foundation/heap/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { answerBytes, createMemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { sendRequest } from '../support/http-client.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { testGateway } from '../support/serve-gateway.ts';
import { aroundStore } from '../support/wrapped-store.ts';

const mib = 1024 * 1024;
const maxBytes = 96 * mib;
const answerCharacters = 4 * mib;
const answer = completionOf({ content: 'word of it, '.repeat(answerCharacters / 12) });
const calls = 6;

const clock = manualClock();
const budget = createMemoryBudget(clock, { maxBytes });
let provider: ScriptedProvider;
let gateway: Harness;
/** A server of the same gateway. The harness's own server refers to each answer until its call is settled. */
let server: ReturnType<typeof createNodeServer>;
let url: string;
/** Writes of records and answers that wait; undefined while they are made at once. */
let waiting: PromiseWithResolvers<void>[] | undefined;
/** Number of writes of an answer that fail from now on. */
let failing = 0;
let names = 0;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => sendJson(outgoing, answer));
  gateway = await startHarness({
    models: {
      large: [{ provider: 'acme', upstream: 'm' }],
      dear: [{ provider: 'acme', upstream: 'm', more: { input_price_per_million: '1000.00' } }],
    },
    providers: { acme: { base_url: provider.url } },
    replace: () => ({ memory: budget }),
    wrapStore: (store) =>
      aroundStore(store, async ({ method, table, changes }, run) => {
        const isAnswer = table === 'idempotency' && changes.set?.state === 'done';
        if (isAnswer && failing > 0) {
          failing -= 1;
          throw new StoreUnavailable('the store is away');
        }
        if (waiting === undefined || (method !== 'batchPut' && !isAnswer)) return run();
        const turn = Promise.withResolvers<void>();
        waiting.push(turn);
        await turn.promise;
        return run();
      }),
  });
  const { composition } = gateway;
  server = createNodeServer(testGateway(composition), composition);
  url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1/chat/completions`;
});
beforeEach(() => {
  failing = 0;
});
afterEach(async () => {
  await settled();
  for (let turn = 0; turn < 1_000 && budget.bytesInUse() > 0; turn += 1) await nextTurn();
  expect(budget.bytesInUse()).toBe(0);
});
afterAll(async () => {
  await server.close();
  await expectBalancedBooks(gateway);
  await gateway.stop();
  await provider.stop();
});

/** Makes the writes that wait, and all later writes. */
function letWrite(): void {
  const turns = waiting ?? [];
  waiting = undefined;
  for (const { resolve } of turns) resolve();
}

/** Makes all writes, and waits until every call is settled. */
async function settled(): Promise<void> {
  letWrite();
  const { settling } = gateway.composition;
  while (settling.size > 0) await Promise.all(settling);
}

const post = (body: object, headers: Record<string, string> = {}) =>
  sendRequest(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const idempotency = () => ({ 'idempotency-key': `settling-${++names}` });

/** Bytes of strings and buffers that something refers to. */
async function liveBytes(): Promise<number> {
  // Buffers are freed after the collection that finds them, so that their bytes are gone after the next one.
  for (let collection = 0; collection < 4; collection += 1) {
    collectGarbage();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('an answer that was sent', () => {
  /** Sends a call and reads its answer, while all writes from the answer on wait. */
  async function expectAnswer(ask: () => Promise<Response>): Promise<void> {
    const response = await ask();
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeGreaterThan(answerCharacters);
  }

  it.each([
    ['of a provider', () => hello('large'), () => ({})],
    ['of an earlier call', () => hello('large'), () => ({ 'idempotency-key': 'earlier' })],
    ['of the cache', () => hello('large', { cache: { ttl: 3_600 } }), () => ({})],
  ])('%s is not kept while its call is settled', async (_name, body, headers) => {
    // The first call fills the cache, stores the answer and loads the code.
    await expectAnswer(() => post(body(), headers()));
    await settled();
    const before = await liveBytes();
    waiting = [];
    for (let call = 0; call < calls; call += 1) await expectAnswer(() => post(body(), headers()));
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    expect(waiting?.length).toBeGreaterThan(0);
    expect(budget.bytesInUse()).toBeLessThan(mib);
    const growth = (await liveBytes()) - before;
    expect(growth).toBeLessThan(1.5 * answerCharacters);
  });
});

it('an answer that could not be stored is counted until it is, and a retry gets it', async () => {
  [failing, waiting] = [1, []];
  const headers = idempotency();
  const text = await (await post(hello('large'), headers)).text();
  while (waiting.length < 2) await nextTurn();
  const requestMaxBytes = 64 * 1024;
  expect(budget.bytesInUse() - answerBytes({ stored: text.length })).toBeGreaterThanOrEqual(0);
  expect(budget.bytesInUse() - answerBytes({ stored: text.length })).toBeLessThan(requestMaxBytes);
  await settled();
  expect(await (await post(hello('large'), headers)).text()).toBe(text);
});

it('an answer that could not be stored is not kept if there is no memory for it, and its retry gets a conflict', async () => {
  const copies = budget.openCopies();
  while (copies.take(64 * 1024));
  [failing, waiting] = [1, []];
  const headers = idempotency();
  await (await post(hello('large'), headers)).text();
  while (waiting.length < 2) await nextTurn();
  copies.end();
  // The memory of its own request.
  expect(budget.bytesInUse()).toBeLessThan(mib);
  await settled();
  const callsBefore = provider.bodies.length;
  const { message } = await expectError(await post(hello('large'), headers), 409, 'idempotency_conflict');
  expect(message).toContain('could not be stored');
  expect(provider.bodies.length).toBe(callsBefore);
});

it('a refused request is counted until its record is written', async () => {
  waiting = [];
  const content = 'word '.repeat(mib / 5);
  const tooDear = { ...hello('dear'), messages: [{ role: 'user', content }] };
  await expectError(await post(tooDear, idempotency()), 402, 'PAYMENT_REQUIRED');
  while (waiting.length === 0) await nextTurn();
  expect(budget.bytesInUse()).toBeGreaterThan(mib);
});
