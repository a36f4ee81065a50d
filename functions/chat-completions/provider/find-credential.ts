// Whose key calls this candidate: the one in the request's header, a stored connection's, or ours. Never another than
// the plan was made with: a connection that cannot be opened serves nobody.
import { SealBroken } from '../../../shared/configuration/byok/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import type { Credential } from '../../../shared/routing/providers/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ClaimedCall } from '../stages.ts';

export async function findCredential(
  deps: ChatDependencies,
  call: ClaimedCall,
  candidate: Candidate,
): Promise<Credential | undefined> {
  const { provider } = candidate;
  const source = call.byok?.sourceOf(candidate);
  if (source === 'header') return { authorization: `Bearer ${call.byokKey}` };
  if (source === undefined) return deps.credentials.find(provider);
  const connection = call.connections.find((known) => known.provider === provider.id);
  if (connection === undefined) return undefined;
  try {
    return { authorization: `Bearer ${await deps.connections.openKey(connection)}` };
  } catch (error) {
    const cause = error instanceof StoreUnavailable && error.cause instanceof Error ? error.cause : error;
    const event = 'connection_key_unavailable';
    deps.log.error({ event, workspace_id: connection.workspace, provider: provider.id }, cause);
    // Whether it cannot be opened or nobody can be asked now: the next candidate may still serve.
    if (error instanceof SealBroken || error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}
