// Sends keep-alives, usually comments, on a stream that is silent for long, because CloudFront and other proxies close
// an idle connection. Clients skip keep-alives, and no transcript contains them.
import { keepAliveCommentMs } from '../../../shared/foundation/constants/index.ts';
import { type Clock, createIdleTimer } from '../../../shared/foundation/time/index.ts';
import type { BodyPart } from '../../../shared/protocol/http/index.ts';
import { keepAliveLine } from '../../../shared/protocol/wire/index.ts';

type Parts = IteratorResult<BodyPart, void>;

/** Yields the parts, and `keepAlive` whenever the next part lets its reader wait. */
export function withKeepAlive(
  clock: Clock,
  parts: AsyncIterator<BodyPart, void>,
  keepAlive: string = keepAliveLine,
): () => Promise<Parts> {
  let pending: Promise<Parts> | undefined;
  let giveKeepAlive = () => {};
  const silence = createIdleTimer(clock, () => giveKeepAlive());
  return () => {
    const { promise, resolve, reject } = Promise.withResolvers<Parts>();
    let isGiven = false;
    giveKeepAlive = () => {
      isGiven = true;
      resolve({ value: { text: keepAlive, isEnd: false } });
    };
    pending ??= parts.next();
    silence.start(keepAliveCommentMs);
    pending.then((next) => {
      // The next read of the reader returns this part.
      if (isGiven) return;
      pending = undefined;
      if (next.done === true) silence.stop();
      else silence.pause();
      resolve(next);
    }, reject);
    return promise;
  };
}
