// A server has closer bounds for connections that have not yet sent an existing key. The gateway reports a key to the
// server before it answers the call.
import { afterAll, beforeAll, expect, it } from '#jest';
import { createGateway } from '../../functions/gateway/routes.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
});
afterAll(() => harness.stop());

it.each([
  ['a key that exists', (key: string) => ({ authorization: [`Bearer ${key}`] }), 200, 1],
  ['a key with another secret', (key: string) => ({ authorization: [`Bearer ${key.slice(0, -6)}aaaaaa`] }), 401, 0],
  ['no key', () => ({}), 401, 0],
])('the server hears of a key only if it exists: a call with %s', async (_what, credential, status, found) => {
  const gateway = createGateway(harness.composition);
  const body = Buffer.from(JSON.stringify(hello('acme/echo')));
  const request = {
    ...{ method: 'POST', path: '/v1/chat/completions', query: '', arrivedAtMs: Date.now() },
    headers: { 'content-type': ['application/json'], ...credential(harness.key) },
    declaredBodyBytes: body.length,
    readBody: async () => body,
  };
  let keys = 0;
  const context = { clientGone: new AbortController().signal, keyFound: () => (keys += 1) };
  const response = await gateway(request, context as never);
  await response.finish?.();
  expect([response.status, keys]).toEqual([status, found]);
});
