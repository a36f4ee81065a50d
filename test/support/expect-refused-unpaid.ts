// Expects that a request with a wrong field is refused before a provider is called, and does not change the credit.
import { expect } from '#jest';
import type { Harness } from './harness.ts';

/** Expects the refusal. `ask` sends a request whose error has OpenAI's format. */
export async function expectRefusedUnpaid(
  gateway: Harness,
  ask: () => Promise<Response>,
  param: string,
): Promise<void> {
  await gateway.settled();
  const before = (await gateway.credit()).spent;
  const response = await ask();
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param } });
  expect(gateway.simulator.calls).toEqual([]);
  await gateway.settled();
  expect((await gateway.credit()).spent).toBe(before);
}
