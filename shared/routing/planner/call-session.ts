// Identifies the calls of one conversation, so that they reach the provider that has cached their prompt.
import { sha256Hex } from '../../foundation/ids/index.ts';
import { findMember, type RoutedRequest } from '../../protocol/wire/index.ts';

interface SessionSource {
  readonly scope: { readonly correlationId: string; readonly correlation: { readonly sessionId?: string | undefined } };
}

/**
 * Returns the session id of the headers, `prompt_cache_key`, or the user; a call without any of these values is a
 * separate session. The id is read once and is short, however long the value is, because the id is hashed for each
 * candidate.
 */
export function sessionOf({ scope }: SessionSource, request: Pick<RoutedRequest, 'text' | 'user'>): () => string {
  let session: string | undefined;
  return () => {
    session ??= sha256Hex(
      scope.correlation.sessionId ?? promptCacheKeyOf(request) ?? request.user ?? scope.correlationId,
    );
    return session;
  };
}

/** Returns the value as the client wrote it. */
function promptCacheKeyOf({ text }: Pick<RoutedRequest, 'text'>): string | undefined {
  const json = text();
  const at = findMember(json, 'prompt_cache_key');
  const written = at === undefined ? '' : json.slice(at);
  return written.startsWith('"') ? written : undefined;
}
