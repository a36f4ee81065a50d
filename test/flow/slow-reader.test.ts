// A client that reads slowly: its pause is not the provider's silence.
import { describe, expect, it } from '#jest';
import { openStream } from '../../functions/gateway/provider/open-stream.ts';
import { startDeadline } from '../../shared/foundation/time/index.ts';
import { startWatch } from '../../shared/routing/providers/index.ts';
import { manualClock } from '../support/manual-clock.ts';

const event = (delta: object, finish_reason: string | null = null) =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);

function open(pieces: readonly (Buffer | Promise<Buffer>)[]) {
  const clock = manualClock();
  const deadline = startDeadline(clock, clock.nowMs(), 55_000);
  const watch = startWatch(clock, deadline, { clientGone: new AbortController().signal });
  async function* body(): AsyncGenerator<Buffer> {
    for (const piece of pieces) yield piece;
  }
  const opened = openStream({ status: 200, headers: {}, body: body(), drain: () => {} }, watch, {
    idleTimeoutMs: 15_000,
    deadline,
    describe: () => undefined,
    choices: 1,
  });
  return { clock, watch, opened };
}

describe('a stream whose reader pauses', () => {
  it('is not given up, before the first piece is read nor between two', async () => {
    const { clock, watch, opened } = open([event({ content: 'a' }), event({ content: 'b' }), event({}, 'stop')]);
    const { rest } = await opened;
    clock.advance(20_000);
    for await (const _batch of rest) clock.advance(16_000);
    expect(watch.endedBy()).toBeUndefined();
    expect(watch.signal.aborted).toBe(false);
  });

  it('is given up all the same where the provider is the silent one', async () => {
    const { clock, watch, opened } = open([event({ content: 'a' }), new Promise<Buffer>(() => {})]);
    const { rest } = await opened;
    const next = rest[Symbol.asyncIterator]().next();
    clock.advance(15_000);
    expect(watch.endedBy()).toBe('idle');
    void next;
  });
});
