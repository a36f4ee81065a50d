// What the claims of a call say together. The first verdict in the order of contract 5 decides; whatever was taken in
// vain is given back, also what was taken too late.

import { type Deadline, within } from '../../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall, ReadyAnswer } from '../stages.ts';
import { type Claim, ranks, type Verdict } from './claim.ts';
import { untilDone } from './until-done.ts';

export const admissionTookTooLong = () => new StoreUnavailable(new Error('admission took too long'));

export interface StartedClaims extends Readonly<Record<string, Promise<Claim>>> {
  readonly idempotency: Promise<Claim>;
  readonly span: Promise<Claim>;
}

/** Undefined: everything was taken. Throws the refusal that wins. */
export async function weighClaims(
  deps: ChatDependencies,
  call: IdentifiedCall,
  started: StartedClaims,
  admission: Deadline,
): Promise<ReadyAnswer | undefined> {
  const all = Object.values(started);
  const giveBackAfterwards = (claims: readonly Promise<Claim>[], decided: Verdict | undefined) =>
    call.scope.afterwards.add(() => giveBackAll(claims, decided, (give) => untilDone(deps.clock, give)));
  let claims: readonly Claim[];
  try {
    claims = await within(deps.clock, admission.remainingMs(), Promise.all(all), admissionTookTooLong);
  } catch (error) {
    giveBackAfterwards(all, undefined);
    throw error;
  }
  const verdict = firstVerdict(claims);
  if (verdict === undefined) return undefined;
  const { idempotency, span, ...others } = started;
  const names = [idempotency, span];
  giveBackAfterwards(Object.values(others), verdict);
  if (verdict.ready !== undefined) {
    giveBackAfterwards(names, verdict);
    return verdict.ready;
  }
  // Before the client knows: it may come back with the same names as soon as it does.
  await giveBackAll(names, verdict, (give) => give()).catch(() => giveBackAfterwards(names, verdict));
  throw verdict.error;
}

const firstVerdict = (claims: readonly Claim[]): Verdict | undefined =>
  claims
    .flatMap(({ verdict }) => (verdict === undefined ? [] : [verdict]))
    .toSorted((a, b) => ranks.indexOf(a.rank) - ranks.indexOf(b.rank))[0];

async function giveBackAll(
  claims: readonly Promise<Claim>[],
  decided: Verdict | undefined,
  attempt: (give: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const given = await Promise.allSettled(claims);
  const takers = given.flatMap((claim) => (claim.status === 'fulfilled' ? (claim.value.giveBack ?? []) : []));
  const returned = await Promise.allSettled(takers.map((giveBack) => attempt(() => giveBack(decided))));
  const failed = returned.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
