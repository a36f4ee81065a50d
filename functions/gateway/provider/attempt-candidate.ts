// Calls one candidate in its format, and delays a stream until its first output. Failures are values; only a bug
// throws.
import { traceparentOf } from '../../../shared/foundation/telemetry/index.ts';
import type { JsonAnswer } from '../../../shared/protocol/wire/index.ts';
import { callCandidate, type NoAnswer, type ReachedVia } from '../../../shared/routing/formats/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { OpenStream, ReleaseMemory } from '../provider-call.ts';
import type { ProviderCall } from '../stages.ts';
import { type AttemptRules, createSend } from './create-send.ts';
import { openStream, readBrokenCall } from './open-stream.ts';

type Answer = { readonly reachedVia: ReachedVia } & (
  | { readonly kind: 'json'; readonly answer: JsonAnswer; readonly release: ReleaseMemory }
  | { readonly kind: 'stream'; readonly stream: OpenStream }
);

/** `answeredAtMs` is the time at which the answer, or the first output of a stream, arrived. */
export type AttemptOutcome = (Answer & { readonly answeredAtMs: number }) | NoAnswer;

export async function attemptCandidate(
  deps: GatewayDependencies,
  call: ProviderCall,
  { candidate, spanId, startedAtMs }: AdmittedCandidate,
  rules: Omit<AttemptRules, 'traceparent'>,
): Promise<AttemptOutcome> {
  const { trace, correlation } = call.parsed.scope;
  // If telemetry is on, the provider's spans belong to the span of this attempt.
  const traceparent = trace && spanId ? traceparentOf(trace, spanId) : correlation.traceparent;
  const { send, openPart, pause, connection } = createSend(deps, call, candidate, { ...rules, traceparent });
  const { watch, memory } = connection;
  const failed = (failure: NoAnswer['failure']): NoAnswer => {
    watch.abort();
    memory.release();
    return { kind: 'failure', failure };
  };
  try {
    const askedAtMs = deps.clock.nowMs();
    const createdSeconds = Math.floor(askedAtMs / 1_000);
    const elapsedMs = () => Math.max(0, deps.clock.nowMs() - askedAtMs);
    const callResult = await callCandidate(call, candidate, { send, openPart, pause, createdSeconds, elapsedMs });
    if (callResult.kind === 'failure') {
      const unusedAnswer = callResult.failure.unusedAnswer ?? connection.refused?.unusedAnswer;
      return failed({ ...callResult.failure, ...(unusedAnswer && { unusedAnswer }) });
    }
    if (callResult.kind === 'json') watch.finish();
    if (callResult.kind === 'json') return { ...callResult, release: memory.release, answeredAtMs: deps.clock.nowMs() };
    const stream = await openStream(deps, callResult, connection);
    if ('kind' in stream) return failed(stream.failure);
    watch.extend(call.parsed.streamDeadline);
    return { kind: 'stream', stream, reachedVia: callResult.reachedVia, answeredAtMs: deps.clock.nowMs() };
  } catch (error) {
    const failure = failed(readBrokenCall(error, connection, deps.clock.nowMs() - startedAtMs));
    // Before anything is sent, no connection can break.
    if (!connection.isSent) throw error;
    return failure;
  }
}
