// One candidate: call it in its format, and hold a stream back until its first output. Failures are values; only a bug throws.
import { traceparentOf } from '../../../shared/foundation/telemetry/index.ts';
import type { JsonAnswer } from '../../../shared/protocol/interfaces/index.ts';
import { callCandidate, type NoAnswer, type Spoken } from '../../../shared/routing/formats/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ModelCall, OpenStream } from '../stages.ts';
import { createSend } from './create-send.ts';
import { openStream, readBrokenStream } from './open-stream.ts';

type Answer = { readonly spoken: Spoken } & (
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | { readonly kind: 'stream'; readonly stream: OpenStream }
);

/** `answeredAtMs`: when the answer, or the first output of a stream, was there. */
export type AttemptOutcome = (Answer & { readonly answeredAtMs: number }) | NoAnswer;

export async function attemptCandidate(
  deps: GatewayDependencies,
  call: ModelCall,
  { candidate, spanId }: AdmittedCandidate,
  silenceLimitMs: number,
): Promise<AttemptOutcome> {
  // Where telemetry is on, what the provider does belongs to the span of this attempt.
  const isTraced = call.trace !== undefined && spanId !== undefined;
  const traceparent = isTraced ? traceparentOf(call.trace, spanId) : call.traceparent;
  const sending = createSend(deps, { ...call, traceparent }, candidate, silenceLimitMs);
  try {
    const createdSeconds = Math.floor(deps.clock.nowMs() / 1_000);
    const called = await callCandidate({ ...call, createdSeconds }, candidate, sending.send);
    if (called.kind === 'failure') {
      const refusedAnswer = called.failure.refusedAnswer ?? sending.tooLong();
      return refusedAnswer === undefined ? called : { ...called, failure: { ...called.failure, refusedAnswer } };
    }
    if (called.kind === 'json') return { ...called, answeredAtMs: deps.clock.nowMs() };
    const watch = sending.watch();
    if (watch === undefined) throw new Error('a stream came of a call that was not sent');
    const stream = await openStream(called, watch, {
      onOutput: () => sending.beginStream(call.streamDeadline),
      onAnswer: sending.limitIdle,
    });
    if ('kind' in stream) {
      watch.abort();
      return stream;
    }
    return { kind: 'stream', stream, spoken: called.spoken, answeredAtMs: deps.clock.nowMs() };
  } catch (error) {
    const watch = sending.watch();
    // Before anything was sent there is no connection that could break.
    if (watch === undefined) throw error;
    watch.abort();
    return { kind: 'failure', failure: readBrokenStream(error, watch) };
  }
}
