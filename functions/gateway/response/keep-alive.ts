// What keeps a stream alive that is silent for long, comments as a rule: CloudFront and other proxies close a connection on which nothing comes.
// Clients skip them, and no transcript holds them.
import { keepAliveCommentMs } from '../../../shared/foundation/constants/index.ts';
import { type Clock, waitAtMost } from '../../../shared/foundation/time/index.ts';
import type { BodyPart } from '../../../shared/protocol/http/index.ts';
import { keepAliveLine } from '../../../shared/protocol/wire/index.ts';

/** The same parts, with `keepAlive` wherever the next one lets its reader wait. */
export function withKeepAlive(
  clock: Clock,
  parts: AsyncIterator<BodyPart, void>,
  keepAlive: string = keepAliveLine,
): () => Promise<IteratorResult<BodyPart>> {
  let pending: Promise<IteratorResult<BodyPart>> | undefined;
  return async () => {
    pending ??= parts.next();
    const next = await waitAtMost(clock, keepAliveCommentMs, pending, () => undefined);
    if (next === undefined) return { value: { text: keepAlive, isEnd: false } };
    pending = undefined;
    return next;
  };
}
