// What keeps a stream alive that is silent for long, comments as a rule: CloudFront and other proxies close a connection on which nothing comes.
// Clients skip them, and no transcript holds them.
import { keepAliveCommentMs } from '../../../shared/foundation/constants/index.ts';
import { type Clock, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { keepAliveLine } from '../../../shared/protocol/wire/index.ts';

/** The same lines, with `keepAlive` wherever the next one lets its reader wait. */
export function withKeepAlive(
  clock: Clock,
  lines: AsyncIterator<string, void>,
  keepAlive: string = keepAliveLine,
): () => Promise<IteratorResult<string>> {
  let pending: Promise<IteratorResult<string>> | undefined;
  return async () => {
    pending ??= lines.next();
    const next = await waitAtMost(clock, keepAliveCommentMs, pending, () => undefined);
    if (next === undefined) return { value: keepAlive };
    pending = undefined;
    return next;
  };
}
