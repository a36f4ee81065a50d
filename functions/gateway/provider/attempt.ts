// One candidate: call it and classify what comes back. Failures are values; only a bug throws.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import {
  firstChunkTimeoutDefaultMs,
  streamReadOnMaxMs,
  upstreamBodyMaxBytes,
  upstreamErrorMaxBytes,
} from '../../../shared/foundation/constants/index.ts';
import { type JsonAnswer, readJsonAnswer } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import {
  type AttemptFailure,
  classifyErrorObject,
  classifyStatus,
  type DescribeText,
  describeProviderText,
  readBoundedBody,
  readRetryAfterSeconds,
  startWatch,
  type UpstreamAnswer,
  type Watch,
} from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ModelCall, OpenStream } from '../stages.ts';
import { openStream, readBrokenStream } from './open-stream.ts';
import { type PreparedCall, prepareCall } from './prepare-call.ts';

type Answer =
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | { readonly kind: 'stream'; readonly stream: OpenStream };
type Failure = { readonly kind: 'failure'; readonly failure: AttemptFailure };

/** `answeredAtMs`: when the answer, or the first output of a stream, was there. */
export type AttemptOutcome = (Answer & { readonly answeredAtMs: number }) | Failure;

export async function attempt(
  deps: GatewayDependencies,
  call: ModelCall,
  { candidate }: AdmittedCandidate,
  silenceLimitMs: number,
): Promise<AttemptOutcome> {
  const prepared = await prepareCall(deps, call, candidate);
  if ('failure' in prepared) return { kind: 'failure', failure: prepared.failure };
  const { clientGone, stopped } = call;
  const graceMs = call.request.stream ? streamReadOnMaxMs : Number.POSITIVE_INFINITY;
  const watch = startWatch(deps.clock, call.deadline, { clientGone, stopped, graceMs });
  // The last candidate has all that is left: no other one would use the time that a limit saves.
  const isLast = !Number.isFinite(silenceLimitMs);
  const limitMs = isLast ? Number.POSITIVE_INFINITY : Math.min(silenceLimitMs, firstChunkLimitMs(call, candidate));
  if (Number.isFinite(limitMs)) watch.expect('silent', limitMs);
  // A JSON answer that drips in is no answer yet: the candidates behind this one keep their time all the same.
  const silentUntilMs = deps.clock.nowMs() + silenceLimitMs;
  const onBytes = () =>
    watch.expect('idle', Math.min(candidate.provider.idle_timeout_ms, silentUntilMs - deps.clock.nowMs()));
  try {
    const answer = await deps.transport.send({
      ...prepared,
      connectTimeoutMs: candidate.provider.connect_timeout_ms,
      signal: watch.signal,
    });
    const describe = (body: unknown) => describeProviderText(body, secretsOf(prepared));
    const outcome = await readOutcome(deps, call, { candidate, answer, watch, onBytes, describe });
    if (outcome.kind === 'failure') return outcome;
    return { ...outcome, answeredAtMs: deps.clock.nowMs() };
  } catch (error) {
    watch.abort();
    return { kind: 'failure', failure: readBrokenStream(error, watch) };
  }
}

interface Reading {
  readonly candidate: Candidate;
  readonly answer: UpstreamAnswer;
  readonly watch: Watch;
  /** Called whenever a part of a JSON answer, or of an error, has come. */
  readonly onBytes: () => void;
  readonly describe: DescribeText;
}

async function readOutcome(
  deps: GatewayDependencies,
  { request, streamDeadline }: ModelCall,
  { candidate: { provider }, answer, watch, onBytes, describe }: Reading,
): Promise<Answer | Failure> {
  const isSuccess = answer.status >= 200 && answer.status < 300;
  if (isSuccess && request.stream && !isJson(answer)) {
    const { choices } = request;
    const options = { idleTimeoutMs: provider.idle_timeout_ms, deadline: streamDeadline, describe, choices };
    return { kind: 'stream', stream: await openStream(answer, watch, options) };
  }
  const reading = readBoundedBody(answer.body, isSuccess ? upstreamBodyMaxBytes : upstreamErrorMaxBytes, onBytes);
  // An error body that breaks off still has its status.
  const text = isSuccess ? await reading : await reading.catch(() => undefined);
  if (text === undefined) watch.abort();
  else watch.release();
  if (!isSuccess) {
    const retryAfterSeconds = readRetryAfterSeconds(answer.headers, deps.clock.nowMs());
    const body = parseLenient(text);
    const failure = classifyStatus(answer.status, body, retryAfterSeconds);
    // Not only a 429 may name a time: an overloaded provider's 503 does too.
    return { kind: 'failure', failure: { ...failure, retryAfterSeconds, providerText: describe(body) } };
  }
  const read = text === undefined ? { kind: 'unreadable' as const } : readJsonAnswer(text);
  if (read.kind === 'error') {
    return { kind: 'failure', failure: { ...classifyErrorObject(read.error), providerText: describe(read.error) } };
  }
  if (read.kind === 'unreadable' || request.stream) return failed('unreadable_answer');
  return { kind: 'json', answer: read.answer };
}

const failed = (cause: string): Failure => ({ kind: 'failure', failure: { kind: 'failed', cause } });

/** A JSON answer is silent until it is finished, so only a limit that the operator wrote binds it. */
function firstChunkLimitMs({ request }: ModelCall, { provider }: Candidate): number {
  const defaultMs = request.stream ? firstChunkTimeoutDefaultMs : Number.POSITIVE_INFINITY;
  return provider.first_chunk_timeout_ms ?? defaultMs;
}

const isJson = ({ headers }: UpstreamAnswer): boolean =>
  String(headers['content-type'] ?? '').includes('application/json');

/** An error body may be HTML or nothing at all: then the status alone classifies it, and the text goes to the log. */
function parseLenient(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return text;
  }
}

/** Headers that carry a credential, or what was made with one. */
const secretHeaders = ['authorization', 'x-amz-security-token'];

const secretsOf = ({ headers }: PreparedCall): string[] =>
  secretHeaders.flatMap((name) => headers[name]?.replace(/^bearer /i, '') ?? []);
