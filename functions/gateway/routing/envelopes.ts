// What seals the thinking of a call for the workspace that gets it.
import {
  createEnvelopes,
  type Envelopes,
  noEnvelopes,
  type RoutedRequest,
} from '../../../shared/protocol/wire/index.ts';
import { chooseFormat } from '../../../shared/routing/formats/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';

interface SealedCall {
  readonly request: RoutedRequest;
  readonly plan: Plan;
  readonly workspace: { readonly id: string };
}

/** Only what crosses formats has some, and only such a call waits for the key of the store, which a process reads once. */
export async function openEnvelopes(
  { storeKey }: Pick<GatewayDependencies, 'storeKey'>,
  { request, plan, workspace }: SealedCall,
): Promise<Envelopes> {
  const crosses = plan.some((candidate) => chooseFormat(candidate, request)?.kind === 'hub');
  return crosses ? createEnvelopes(await storeKey.read(), workspace.id) : noEnvelopes;
}
