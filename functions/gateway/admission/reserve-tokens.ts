// Tokens per minute of the key and of its workspace: what the call may take is counted before a provider is called, and
// corrected to what it took when it ends.
import type { Permit } from '../../../shared/accounting/limits/index.ts';
import { readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { countsOnly } from '../../../shared/foundation/constants/index.ts';
import { mostTokens } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall, OpenedCall, RoutedCall } from '../stages.ts';
import { type ReservationGroup, type ReservationResult, refused } from './reservation.ts';

/** Returns undefined when neither has such a limit, or the call takes no tokens. */
export function reserveTokens(deps: GatewayDependencies, call: RoutedCall | OpenedCall): ReservationGroup | undefined {
  const { limiter, recentRefusals } = deps;
  const owners = limitedOwners(call);
  if (owners.length === 0 || countsOnly(call.clientInterface.id)) return undefined;
  const tokens = 'plan' in call ? mostTokens(call) : call.execution.estimatedTokens;
  const permits: Permit[] = [];
  const release = () => Promise.all(permits.map((permit) => limiter.release(permit)));
  // One after the other: a call that its key refuses takes nothing of what others of its workspace could use.
  async function reserve(): Promise<ReservationResult> {
    for (const { owner, tpm, refuse } of owners) {
      const admission = await limiter.admit({ owner }, { rpm: null, tpm, tpd: null }, { tokens, requests: 1 });
      if (admission.kind === 'limited') {
        recentRefusals.set(owner, true);
        return { ...refused('capacity', refuse(Math.ceil(admission.retryAfterMs / 1_000))), release };
      }
      permits.push(admission.permit);
    }
    return { holdings: { tokenPermits: permits }, release };
  }
  return {
    reservations: [{ rank: 'capacity', reserve, releaseUncertain: release }],
    mayRefuse: owners.some(({ owner }) => recentRefusals.has(owner)),
  };
}

interface LimitedOwner {
  /** Names its counter. A key that was rotated keeps its own. */
  readonly owner: string;
  readonly tpm: number;
  readonly refuse: (retryAfterSeconds: number) => GatewayError;
}

function limitedOwners({ key, workspace }: IdentifiedCall): readonly LimitedOwner[] {
  const ofKey = readKeySetting(key, 'tpm');
  const ofWorkspace = workspace.tpm ?? null;
  return [
    ...(ofKey === null ? [] : [limitedOwner(`key#${key.pk}`, ofKey, 'api_key_rate_limit', 'The key')]),
    ...(ofWorkspace === null
      ? []
      : [limitedOwner(`workspace#${workspace.id}`, ofWorkspace, 'rate_limited', `The workspace ${workspace.id}`)]),
  ];
}

const limitedOwner = (
  owner: string,
  tpm: number,
  code: 'api_key_rate_limit' | 'rate_limited',
  whose: string,
): LimitedOwner => ({
  owner,
  tpm,
  refuse: (retryAfterSeconds) =>
    fail(code, {
      retryAfterSeconds,
      message: `${whose} may use ${tpm} tokens a minute, its tpm, and what is left does not cover this call; try again in ${retryAfterSeconds} s.`,
    }),
});
