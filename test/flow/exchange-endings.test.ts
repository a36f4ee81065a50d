// Every way in which an exchange with a provider can end is a failure of that attempt, never a wait.
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

let gateway: Harness;
beforeAll(async () => {
  const routes = endings.map((behaviour) => {
    const odd = { provider: 'odd', upstream: behaviour };
    const good = { provider: 'good', upstream: 'echo', more: { output_price_per_million: '9.00' } };
    return { [`alone/${behaviour}`]: [odd], [`backed/${behaviour}`]: [odd, good] };
  });
  gateway = await startHarness({
    models: Object.assign({ 'acme/hints': [{ provider: 'acme', upstream: 'early-hints' }] }, ...routes),
  });
});
afterAll(() => gateway.stop());
afterEach(() => gateway.simulator.clear());

describe.each(endings)('a provider whose exchange ends with %s', (behaviour) => {
  it('has failed at once where there is no other, and all that was held is released', async () => {
    // Of the call before.
    await gateway.settled();
    const { spent } = await gateway.credit();
    for (let call = 0; call < 3; call += 1) {
      await expectError(
        await gateway.post(hello(`alone/${behaviour}`, { stream: call === 0 })),
        502,
        'no_available_provider',
      );
    }
    // Settlement follows the last byte. What is never released ends this test by its time limit.
    while ((await gateway.credit()).held !== 0n);
    expect((await gateway.credit()).spent).toBe(spent);
  });

  it.each([false, true])('has failed at once, and the next provider answers: stream %s', async (stream) => {
    const response = await gateway.post(hello(`backed/${behaviour}`, { stream }));
    expect([response.status, response.headers.get('x-gw-provider')]).toEqual([200, 'good']);
    if (stream) expect(contentOf((await readStream(response)).lines)).toContain('simulated by the provider good');
    else expect((await response.json()) as object).toMatchObject({ usage: { attempts: 2 } });
  });
});

describe('a provider that hints before it answers', () => {
  it('is waited for', async () => {
    const response = await gateway.post(hello('acme/hints'));
    expect(response.status).toBe(200);
    await response.text();
  });
});
