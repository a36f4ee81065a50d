// Counting the tokens of an input costs nothing; a compaction is a call of the model, with a charge of its own.
import { afterAll, afterEach, beforeAll, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const poorKey = newKey();
let gateway: Harness;
beforeAll(async () => {
  const entryOf = (provider: string, upstream: string) => [{ provider, upstream }];
  gateway = await startHarness({
    models: {
      'acme/usage': entryOf('acme', 'usage:1000:500'),
      'acme/silent': entryOf('acme', 'no-usage'),
      'acme/failing': [...entryOf('acme', 'error-500'), ...entryOf('globex', 'usage:1000:500')],
      'claude/echo': entryOf('claude', 'echo'),
      'acme/searching': [{ provider: 'acme', upstream: 'echo', more: { price_per_request: '0.01' } }],
      'claude/searching': [{ provider: 'claude', upstream: 'echo', more: { price_per_request: '0.01' } }],
    },
    providers: { acme: { apis: ['responses'] }, globex: { apis: ['responses'] }, claude: { apis: ['messages'] } },
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'first', key: poorKey }] }],
  });
});
afterAll(() => gateway.stop());
afterEach(() => gateway.simulator.clear());

const poor = { authorization: `Bearer ${poorKey}` };
const count = (body: Json, headers = {}) =>
  gateway.postTo('/responses/input_tokens', { input: 'Hello', ...body }, headers);
const compact = (body: Json, headers = {}) =>
  gateway.postTo('/responses/compact', { input: 'Hello', ...body }, headers);
const spentBy = async (call: () => Promise<Response>) => {
  await gateway.settled();
  const before = (await gateway.credit()).spent;
  const response = await call();
  const answer = (await response.json()) as Json & { usage?: Json };
  await gateway.settled();
  return { status: response.status, answer, spent: (await expectBalancedBooks(gateway)) - before };
};

it('a count of tokens needs no credit and charges nothing', async () => {
  const countAnswer = await count({ model: 'acme/usage' }, poor);
  expect([countAnswer.status, await countAnswer.json()]).toEqual([
    200,
    { object: 'response.input_tokens', input_tokens: expect.any(Number) },
  ]);
  expect((await spentBy(() => count({ model: 'acme/usage' }))).spent).toBe(0n);
  expect(gateway.simulator.calls.map(({ format }) => format)).toEqual(['input-tokens', 'input-tokens']);
});

it('a count of tokens costs nothing if a request to the model has a price of its own', async () => {
  for (const model of ['acme/searching', 'claude/searching']) {
    expect((await count({ model }, poor)).status).toBe(200);
    expect((await spentBy(() => count({ model }))).spent).toBe(0n);
  }
  const ofMessages = { model: 'claude/searching', messages: [{ role: 'user', content: 'Hello' }] };
  expect((await gateway.postTo('/messages/count_tokens', ofMessages, poor)).status).toBe(200);
  expect((await spentBy(() => gateway.postTo('/messages/count_tokens', ofMessages))).spent).toBe(0n);
});

it('a count of tokens is an estimate, without a call, if the provider speaks another format', async () => {
  const { status, answer, spent } = await spentBy(() => count({ model: 'claude/echo', input: 'Some words to count' }));
  expect([status, answer.object, spent]).toEqual([200, 'response.input_tokens', 0n]);
  expect(Number(answer.input_tokens)).toBeGreaterThan(4);
  expect(gateway.simulator.calls).toEqual([]);
});

it('a compaction is billed as it is reported, and its usage says so', async () => {
  const { answer, spent } = await spentBy(() => compact({ model: 'acme/usage' }));
  // The cost is 1,000 tokens of input at $1 and 500 of output at $2 a million.
  expect(answer.usage).toMatchObject({ input_tokens: 1_000, output_tokens: 500, cost: 0.002, cost_usd: '0.002' });
  expect(spent).toBe(2_000_000_000n);
  const last = await gateway.lastRecord();
  expect(last).toMatchObject({ interfaceId: 'compact', completionTokens: 500 });
});

it('a compaction is sent without the fields that only a response has', async () => {
  await (await compact({ model: 'acme/usage', provider: { only: 'acme' }, instructions: 'Be brief.' })).text();
  expect(gateway.simulator.calls.map(({ body }) => body)).toEqual([
    { model: 'usage:1000:500', input: 'Hello', instructions: 'Be brief.' },
  ]);
});

it('a compaction that reports nothing is estimated, and is charged no more than was reserved', async () => {
  const { status, spent } = await spentBy(() => compact({ model: 'acme/silent' }));
  expect(status).toBe(200);
  expect(spent > 0n && spent < 10_000_000_000n).toBe(true);
});

it('a compaction reserves the output bound of the model, because nothing else bounds it', async () => {
  const refusal = await expectError(await compact({ model: 'acme/usage' }, poor), 402, 'PAYMENT_REQUIRED');
  // The amount is 4,096 tokens of output at $2 a million, and the input.
  expect(Number(/(\d+\.\d+)/.exec(refusal.message)?.[1])).toBeGreaterThan(0.008_192);
  expect(gateway.simulator.calls).toEqual([]);
});

it('a compaction that failed goes to the next provider, and is charged once', async () => {
  const { status, spent } = await spentBy(() => compact({ model: 'acme/failing' }));
  expect([status, spent]).toEqual([200, 2_000_000_000n]);
  expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['acme', 'globex']);
});

it('a compaction is refused if no provider of the model speaks Responses, or if another workspace made its input', async () => {
  await expectError(await compact({ model: 'claude/echo' }), 400, 'feature_unsupported');
  for (const ask of [compact, count])
    await expectError(await ask({ model: 'acme/usage', previous_response_id: 'resp_1' }), 400, 'invalid_request');
  await expectError(await compact({ model: undefined }), 400, 'invalid_request');
  expect(gateway.simulator.calls).toEqual([]);
});
