// One candidate: call it in its format, and hold a stream back until its first output. Failures are values; only a bug throws.
import { traceparentOf } from '../../../shared/foundation/telemetry/index.ts';
import type { JsonAnswer } from '../../../shared/protocol/interfaces/index.ts';
import { callCandidate, type NoAnswer, type Spoken } from '../../../shared/routing/formats/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { OpenStream, ProviderCall, ReleaseMemory } from '../provider-call.ts';
import { createSend, type SendOptions } from './create-send.ts';
import { openStream, readBrokenCall } from './open-stream.ts';

type Answer = { readonly spoken: Spoken } & (
  | { readonly kind: 'json'; readonly answer: JsonAnswer; readonly release: ReleaseMemory }
  | { readonly kind: 'stream'; readonly stream: OpenStream }
);

/** `answeredAtMs`: when the answer, or the first output of a stream, was there. */
export type AttemptOutcome = (Answer & { readonly answeredAtMs: number }) | NoAnswer;

export async function attemptCandidate(
  deps: GatewayDependencies,
  call: ProviderCall,
  { candidate, spanId, startedAtMs }: AdmittedCandidate,
  options: SendOptions,
): Promise<AttemptOutcome> {
  const { request, signals, times } = call;
  // Where telemetry is on, what the provider does belongs to the span of this attempt.
  const traceparent = signals.trace && spanId ? traceparentOf(signals.trace, spanId) : signals.traceparent;
  const traced = { ...call, signals: { ...signals, traceparent } };
  const { send, connection, release } = createSend(deps, traced, candidate, options);
  const failed = (failure: NoAnswer['failure']): NoAnswer => {
    release();
    return { kind: 'failure', failure };
  };
  try {
    const createdSeconds = Math.floor(deps.clock.nowMs() / 1_000);
    const asked = { ...request, request: request.asked, correlationId: signals.correlationId, createdSeconds };
    const called = await callCandidate(asked, candidate, send);
    const sent = connection();
    if (called.kind === 'failure') {
      const refusedAnswer = called.failure.refusedAnswer ?? sent?.refusedAnswer;
      return failed({ ...called.failure, ...(refusedAnswer && { refusedAnswer }) });
    }
    if (called.kind === 'json') return { ...called, release, answeredAtMs: deps.clock.nowMs() };
    if (sent === undefined) throw new Error('a stream came of a call that was not sent');
    const stream = await openStream(deps, called, sent);
    if ('kind' in stream) {
      sent.watch.abort();
      return failed(stream.failure);
    }
    sent.watch.extend(times.streamDeadline);
    return { kind: 'stream', stream, spoken: called.spoken, answeredAtMs: deps.clock.nowMs() };
  } catch (error) {
    const sent = connection();
    // Before anything was sent there is no connection that could break.
    if (sent === undefined) throw error;
    sent.watch.abort();
    return failed(readBrokenCall(error, sent, deps.clock.nowMs() - startedAtMs));
  }
}
