// Opens the envelopes of thinking. Only a call that crosses formats has envelopes, so other calls do not wait for the
// store's key, which a process reads once.
import { createEnvelopes, type Envelopes, type RoutedRequest } from '../../../shared/protocol/wire/index.ts';
import { chooseFormat } from '../../../shared/routing/formats/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';

/** Returns true if a candidate is called in another format than the client's format. */
export const crossesFormats = ({ request, plan }: { readonly request: RoutedRequest; readonly plan: Plan }): boolean =>
  plan.some((candidate) => chooseFormat(candidate, request)?.kind === 'hub');

/** Returns true if every candidate is called in the format of its client. */
export const isRelayedOnly = ({ request, plan }: { readonly request: RoutedRequest; readonly plan: Plan }): boolean =>
  plan.every((candidate) => chooseFormat(candidate, request)?.kind === 'relay');

export const openEnvelopes = async (
  { storeKey }: Pick<GatewayDependencies, 'storeKey'>,
  workspace: { readonly id: string },
): Promise<Envelopes> => createEnvelopes(await storeKey.read(), workspace.id);
