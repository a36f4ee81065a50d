// Bring your own key: what the planner must know of it, and the rules of the key header.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';
import type { RoutedRequest } from '../../protocol/wire/index.ts';
import { type VisibilityInput, visibleCandidates } from './visible-candidates.ts';

/** Where a credential of the client's own comes from. */
export type ByokSource = 'header' | 'connection';

export interface ByokSources {
  /** Whose key calls this candidate. Undefined: ours. */
  readonly sourceOf: (candidate: Candidate) => ByokSource | undefined;
  /** A connection with `policy: always` applies: no provider may be called with our key. */
  readonly isRequired: boolean;
}

/** Who pays the provider of this candidate: our credential stands for the workspace's credit. */
export const payerOf = (byok: ByokSources | undefined, candidate: Candidate): 'workspace' | 'client' =>
  byok?.sourceOf(candidate) === undefined ? 'workspace' : 'client';

export interface ByokConnection {
  readonly provider: string;
  readonly policy: 'always' | 'allowed';
  /** Its key can be read. Where it cannot, the policy binds all the same. */
  readonly isAuthorised: boolean;
}

/** What a workspace with the feature switched on brings along. */
export interface ByokKeys {
  readonly hasHeaderKey: boolean;
  readonly connections: readonly ByokConnection[];
}

/** Call it after `checkByokHeader`, which sees to it that a header's key meets one provider only. */
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

/** Whether a call of the workspace may reach this candidate with a key of the client's own: a stored one, or its header. */
export const mayBringKey = (
  { provider }: Candidate,
  { isEnabled, connections }: Pick<ByokHeaderInput, 'isEnabled' | 'connections'>,
): boolean =>
  isEnabled &&
  (connections.some((known) => known.provider === provider.id && known.isAuthorised) ||
    (provider.accepts_byok_header && !isAlwaysBound(connections)));

export interface ByokHeaderInput extends VisibilityInput {
  readonly isEnabled: boolean;
  readonly connections: readonly ByokConnection[];
}

/** What is wrong with a key header beside this request. Undefined: nothing. An unknown model is not its business. */
export function checkByokHeader(
  { provider, model }: Pick<RoutedRequest, 'provider' | 'model'>,
  input: ByokHeaderInput,
): GatewayError | undefined {
  if (!input.isEnabled) return fail('byok_not_enabled');
  if (isAlwaysBound(input.connections)) return fail('byok_credential_conflict');
  const [id, ...others] = new Set(provider.only);
  const pinned = id === undefined || others.length > 0 ? undefined : input.catalogue.providers.get(id);
  const isServing = visibleCandidates(model, input)?.some((candidate) => candidate.provider.id === id) ?? true;
  if (pinned === undefined || !isServing) return fail('byok_provider_required');
  return pinned.accepts_byok_header ? undefined : fail('byok_credential_unsupported');
}
