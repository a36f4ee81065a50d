// What is left to do when the last byte is out, on every way out: charge a stream for what was relayed, settle what was
// held at the real cost, free what nobody needs, tell everybody who counts, and write the record.
import { closeAccounts, countAnswer, countFailure } from '../accounts.ts';
import { newTally } from '../admission/new-ending.ts';
import { chargeAnswer } from '../charge-answer.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { Claimed, ClaimedCall, ProvidedCall } from '../stages.ts';
import { settleClaims } from './settle-claims.ts';
import { settleMoney } from './settle-money.ts';
import { type CachedReady, writeCachedRecord, writeRecord } from './write-record.ts';

/** Call it as soon as something is claimed: from here on a fault anywhere still settles. */
export function settleAfterwards(deps: ChatDependencies, call: Claimed): void {
  call.scope.afterwards.add(async () => {
    const parts = [settleMoney(deps, call), settleClaims(deps, call), writeRecord(deps, call), closeAccounts(deps)];
    for (const part of await Promise.allSettled(parts)) {
      if (part.status === 'fulfilled') continue;
      deps.log.error({ event: 'settlement_failed', correlation_id: call.scope.correlationId }, part.reason);
    }
  });
}

/** For an answer from the cache: nothing is held by then, and nothing is owed. */
export function recordAfterwards(deps: ChatDependencies, cached: CachedReady): void {
  cached.call.scope.afterwards.add(() => writeCachedRecord(deps, cached));
}

/** Prepares the settlement of a stream. The function charges it: once, when its end is known, whoever asks first. */
export function settleStreamAfterwards(deps: ChatDependencies, call: ClaimedCall, provided: ProvidedCall): () => void {
  const tally = newTally();
  const { turn, promptBytes } = provided;
  let tokens: number | undefined;
  call.ending.tally = tally;
  const charge = () => {
    // The last report of a stream that ended well is believed, also a zero.
    const outputBytesAfterUsage = tally.end === 'complete' ? tally.outputBytesAfterUsage : tally.outputBytesAfterCount;
    tokens ??= chargeAnswer(call, turn, { ...tally, outputBytesAfterUsage }, promptBytes).tokens;
    return tokens;
  };
  call.scope.afterwards.add(async () => {
    const counted = charge();
    // A client that left says nothing about the provider.
    const end = tally.end ?? ({ kind: 'client_gone', cause: 'client_gone' } as const);
    if (end !== 'complete') countFailure(deps, call.scope, turn, end, counted);
    else {
      const latencyMs = deps.clock.nowMs() - turn.startedAtMs;
      const { firstOutputAtMs } = call.ending;
      const firstTokenMs = firstOutputAtMs === undefined ? undefined : firstOutputAtMs - turn.startedAtMs;
      countAnswer(deps, call.scope, turn, { latencyMs, firstTokenMs, tokens: counted });
    }
  });
  return () => void charge();
}
