// State that a later gateway finds and repairs while it serves ordinary calls: there is no job that cleans up.

import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { formatUsd, parseUsd } from '../../shared/foundation/money/index.ts';
import { askGateway } from './ask-gateway.ts';
import { standingHolds, workspaces } from './books.ts';
import { aloneModel, type KeyName, keyNames, spareModel } from './fault-file.ts';
import type { FaultHarness } from './fault-harness.ts';
import type { MixedCall } from './mixed-calls.ts';

/** A time after every expiry: reservations expire within five seconds of the lease. */
export const beyondTheLeaseMs = holdLifeMs + 6_000;

const retriesAtOnce = 8;

/** A counter is repaired after a few calls; a shard is hit at random. */
const roundsMax = 5;

const plain = (key: KeyName, more: object = {}): MixedCall => ({
  key,
  body: { model: aloneModel('echo'), messages: [{ role: 'user', content: 'Visit' }], max_tokens: 8, ...more },
  headers: {},
});

/** Calls that together use every counter. */
const visits: readonly MixedCall[] = [
  ...keyNames.map((key) => plain(key)),
  // The connection pays for one provider, credit for the other.
  plain('byok', { model: spareModel('echo') }),
  { key: 'team', body: { model: 'gw/function/prompt', messages: [{ role: 'user', content: 'Visit' }] }, headers: {} },
  // A call hits a shard at random, so there are several calls.
  ...Array.from({ length: 5 }, () => plain('sharded')),
];

/** The credit that covers one visit: a workspace without credit is refused before the call repairs anything. */
const forOneVisitUsd = '0.001';

async function topUp({ operator, clock }: FaultHarness): Promise<void> {
  const amount = parseUsd(forOneVisitUsd) ?? 0n;
  const id = operator.randomness.uuid();
  const raised = (limit: string) => formatUsd((parseUsd(limit) ?? 0n) + amount);
  for (const workspace of workspaces) {
    await operator.credit.add({ workspace, amount, id, nowMs: clock.nowMs() });
    const document = await operator.workspaceStore.read(workspace);
    if (document === undefined || document.spend_limit_usd === null) continue;
    await operator.workspaceStore.write({ ...document, spend_limit_usd: raised(document.spend_limit_usd) });
  }
  for await (const key of operator.keys.list()) {
    if (key.spendLimitUsd !== null) await operator.keys.write({ ...key, spendLimitUsd: raised(key.spendLimitUsd) });
  }
}

/** Moves the clock past every lease, serves calls, and lists the reservations that remain. */
export async function standingAfterTheLease(harness: FaultHarness): Promise<readonly string[]> {
  harness.advance(beyondTheLeaseMs);
  await topUp(harness);
  const { gateway } = harness.open();
  let standing = await standingHolds(harness);
  for (let round = 0; round < roundsMax && standing.length > 0; round += 1) {
    await Promise.all(visits.map((visit) => askGateway(gateway, visit, harness.keys, harness.clock)));
    standing = await standingHolds(harness);
  }
  return standing;
}

/** Sends each idempotent call once more, because a dead owner must not keep its key. Returns the statuses. */
export async function retryAll(harness: FaultHarness, calls: readonly MixedCall[]): Promise<readonly number[]> {
  const { gateway } = harness.open();
  const names = new Map(
    calls.flatMap((call) => (call.idempotent === undefined ? [] : [[call.idempotent.recordKey, call]])),
  );
  const statuses: number[] = [];
  // The retries run a few at a time, because a busy machine must not cause an outage of its own.
  const waiting = [...names.values()].values();
  const client = async () => {
    for (const call of waiting) statuses.push((await askGateway(gateway, call, harness.keys, harness.clock)).status);
  };
  await Promise.all(Array.from({ length: retriesAtOnce }, client));
  return statuses;
}
