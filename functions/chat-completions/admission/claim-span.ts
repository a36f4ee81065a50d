// The span id: used once per workspace (spec 4.1), but a retry may bring its own again (contract 7).
import { errorCatalogue, fail, GatewayError } from '../../../shared/errors/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type Claim, type GiveBack, granted, heard, ranks, refused, type Verdict } from './claim.ts';

export async function claimSpan(
  { spans, clock }: ChatDependencies,
  call: IdentifiedCall,
  owner: string,
): Promise<Claim> {
  const { spanId } = call.scope.correlation;
  if (spanId === undefined) return granted();
  const claimant = { workspace: call.workspace.id, spanId, owner };
  const giveBack: GiveBack = async (decided) => {
    const end = endOf(decided);
    if (end === 'released') await spans.release(claimant);
    if (end === 'untouched') await spans.withdraw(claimant);
  };
  const asked = spans.claim({
    ...claimant,
    idempotencyKey: call.idempotencyKey,
    fingerprint: call.fingerprint(),
    nowMs: clock.nowMs(),
  });
  const claim = asked.then(({ kind }) =>
    kind === 'duplicate' ? refused('span', fail('duplicate_span_id')) : granted(giveBack),
  );
  return heard('span', claim, giveBack);
}

type End = 'used' | 'released' | 'untouched';

/** What becomes of the span of a call that is not bound for a provider. */
function endOf(decided: Verdict | undefined): End {
  if (decided === undefined) return 'released';
  // A stored answer belongs to the call that used the span; one from the cache is an answer like any other.
  if (decided.ready !== undefined) return 'used';
  // What stands before spans in contract 5 was found before the span was looked at. A call that runs keeps its own.
  if (ranks.indexOf(decided.rank) < ranks.indexOf('span')) return isRunning(decided.error) ? 'used' : 'untouched';
  return mayBeRetried(decided.error) ? 'released' : 'used';
}

const isRunning = (error: unknown): boolean => error instanceof GatewayError && error.code === 'execution_in_progress';

/** A store that failed is one of our own failures. */
const mayBeRetried = (error: unknown): boolean =>
  !(error instanceof GatewayError) || error.entry.status >= errorCatalogue.rate_limited.status;
