// Every way in which an exchange with a provider can end is a failure of that attempt, never a wait (contract 6).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { contentOf, readStream } from '../support/read-stream.ts';

const endings = [
  'switch-protocols',
  'upgrade',
  'processing',
  'close',
  'half-head',
  'no-http',
  'reset',
  'reset-after-headers',
  'cut:0',
];

const credit = 1_000_000_000_000n;

describe.each(endings)('a provider whose exchange ends with %s', (behaviour) => {
  let gateway: Harness;

  beforeAll(async () => {
    const odd = { provider: 'odd', upstream: behaviour };
    const good = { provider: 'good', upstream: 'echo', more: { output_price_per_million: '9.00' } };
    gateway = await startHarness({
      models: { 'alone/odd': [odd], 'backed/odd': [odd, good] },
      workspace: { credit_usd: '1.00' },
    });
  });
  afterAll(() => gateway.stop());
  afterEach(() => gateway.simulator.clear());

  it('has failed at once where there is no other, and all that was held is released', async () => {
    const available = async () =>
      (await gateway.composition.credit.show({ workspace: 'team', spendLimit: null })).available;
    for (let call = 0; call < 3; call += 1) {
      await expectError(await gateway.post(hello('alone/odd', { stream: call === 0 })), 502, 'no_available_provider');
    }
    // Settlement follows the last byte. What is never released ends this test by its time limit.
    while ((await available()) !== credit);
  });

  it.each([false, true])('has failed at once, and the next provider answers: stream %s', async (stream) => {
    const response = await gateway.post(hello('backed/odd', { stream }));
    expect([response.status, response.headers.get('x-gw-provider')]).toEqual([200, 'good']);
    if (stream) expect(contentOf((await readStream(response)).lines)).toContain('simulated by the provider good');
    else expect((await response.json()) as object).toMatchObject({ usage: { attempts: 2 } });
  });
});

describe('a provider that hints before it answers', () => {
  it('is waited for', async () => {
    const gateway = await startHarness({ models: { 'acme/hints': [{ provider: 'acme', upstream: 'early-hints' }] } });
    const response = await gateway.post(hello('acme/hints'));
    expect(response.status).toBe(200);
    await response.text();
    await gateway.stop();
  });
});
