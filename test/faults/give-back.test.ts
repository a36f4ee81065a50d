// What a refused call has taken comes back while the store is away for a moment, not only with its lease.
import { afterAll, beforeAll, expect, it } from '#jest';
import { askGateway } from './ask-gateway.ts';
import { standingHolds } from './books.ts';
import { aloneModel } from './fault-file.ts';
import { type FaultHarness, startFaultHarness } from './fault-harness.ts';
import type { FaultPlan } from './faulty-client.ts';

/** A call to the store is sent three times: this many refusals fail two of them. */
const refusals = 6;

let harness: FaultHarness;
beforeAll(async () => {
  harness = await startFaultHarness();
});
afterAll(() => harness.stop());

it('a call that its key cannot pay for leaves no hold on the credit, though the store throttles the return', async () => {
  let left = refusals;
  const plan: FaultPlan = ({ table, input }) => {
    const gives = table === 'ledger' && /\bADD\b/.test(String(input.UpdateExpression));
    if (!gives || left === 0) return undefined;
    left -= 1;
    return 'throttled';
  };
  const { gateway } = harness.open({ plan });
  const body = { model: aloneModel('echo'), messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4_096 };
  const { status } = await askGateway(gateway, { key: 'limited', body, headers: {} }, harness.keys, harness.clock);
  expect({ status, left }).toEqual({ status: 402, left: 0 });
  expect(await standingHolds(harness)).toEqual([]);
  expect(harness.simulator.calls).toEqual([]);
});
