// Plans "bring your own key": the planner's view of the client's keys, and the rules of the key header.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';
import type { ProviderPreferences, RoutedRequest } from '../../protocol/wire/index.ts';
import { type VisibilityInput, visibleCandidates } from './visible-candidates.ts';

/** Source of a client's own credential. */
export type ByokSource = 'header' | 'connection';

export interface ByokSources {
  /** Returns the source of the client's key for this candidate; undefined for the gateway's own credential. */
  readonly sourceOf: (candidate: Pick<Candidate, 'provider'>) => ByokSource | undefined;
  /** True if a connection with `policy: always` applies. No provider may then be called with the gateway's key. */
  readonly isRequired: boolean;
}

/** Returns the payer for this candidate's provider. With the gateway's credential, the workspace's credit pays. */
export const payerOf = (byok: ByokSources | undefined, candidate: Candidate): 'workspace' | 'client' =>
  byok?.sourceOf(candidate) === undefined ? 'workspace' : 'client';

export interface ByokConnection {
  readonly provider: string;
  readonly policy: 'always' | 'allowed';
  /** True if its key can be read. Otherwise only its policy applies. */
  readonly isAuthorised: boolean;
}

/** Keys of a workspace that has the feature enabled. */
interface ByokKeys {
  readonly hasHeaderKey: boolean;
  readonly connections: readonly ByokConnection[];
}

/** Reads the sources. Call it after `checkByokHeader`, which ensures that a header's key reaches one provider only. */
export function readByokSources({ hasHeaderKey, connections }: ByokKeys): ByokSources {
  const connected = new Set(connections.filter(({ isAuthorised }) => isAuthorised).map(({ provider }) => provider));
  return {
    sourceOf: ({ provider }) => {
      if (hasHeaderKey) return 'header';
      return connected.has(provider.id) ? 'connection' : undefined;
    },
    isRequired: isAlwaysBound(connections),
  };
}

const isAlwaysBound = (connections: readonly ByokConnection[]): boolean =>
  connections.some(({ policy }) => policy === 'always');

/**
 * True if a call of the workspace may reach this candidate with the client's own key, which is stored or in a header.
 */
export const mayBringKey = (
  { provider }: Candidate,
  { isEnabled, connections }: Pick<ByokHeaderInput, 'isEnabled' | 'connections'>,
): boolean =>
  isEnabled &&
  (connections.some((known) => known.provider === provider.id && known.isAuthorised) ||
    (provider.accepts_byok_header && !isAlwaysBound(connections)));

interface ByokHeaderInput extends VisibilityInput {
  readonly isEnabled: boolean;
  readonly connections: readonly ByokConnection[];
}

/**
 * Returns the fault of a key header with this request; undefined when there is none. Another function reports an
 * unknown model.
 */
export function checkByokHeader(
  {
    provider,
    ...request
  }: Pick<RoutedRequest, 'model' | 'namesModelsOf'> & { readonly provider: Pick<ProviderPreferences, 'only'> },
  input: ByokHeaderInput,
): GatewayError | undefined {
  if (!input.isEnabled) return fail('byok_not_enabled');
  if (isAlwaysBound(input.connections)) return fail('byok_credential_conflict');
  const [id, ...others] = new Set(provider.only);
  const pinned = id === undefined || others.length > 0 ? undefined : input.catalogue.providers.get(id);
  const isServing =
    visibleCandidates(request.model, input, request)?.some((candidate) => candidate.provider.id === id) ?? true;
  if (pinned === undefined || !isServing) return fail('byok_provider_required');
  return pinned.accepts_byok_header ? undefined : fail('byok_credential_unsupported');
}
