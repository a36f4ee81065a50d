// One candidate: call it and classify what comes back. Failures are values; only a bug throws.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import {
  firstChunkTimeoutDefaultMs,
  headerNames,
  upstreamBodyMaxBytes,
  upstreamErrorMaxBytes,
} from '../../../shared/foundation/constants/index.ts';
import { readJsonAnswer } from '../../../shared/protocol/wire/index.ts';
import {
  type AttemptFailure,
  classifyErrorObject,
  classifyStatus,
  readBoundedBody,
  readRetryAfterSeconds,
  startWatch,
  toUpstreamBody,
  type UpstreamAnswer,
  type Watch,
} from '../../../shared/routing/providers/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { AttemptSuccess, ClaimedCall, Turn } from '../stages.ts';
import { findCredential } from './find-credential.ts';
import { openStream, readBrokenStream } from './open-stream.ts';

export type AttemptOutcome =
  | {
      readonly kind: 'success';
      readonly success: AttemptSuccess;
      readonly promptBytes: number;
      /** When the answer, or the first output of a stream, was there. */
      readonly answeredAtMs: number;
    }
  | { readonly kind: 'failure'; readonly failure: AttemptFailure };

export async function attempt(
  deps: ChatDependencies,
  call: ClaimedCall,
  { candidate }: Turn,
  silenceLimitMs: number,
): Promise<AttemptOutcome> {
  const credential = await findCredential(deps, call, candidate);
  if (credential === undefined) return failed('no_usable_credential');
  const body = toUpstreamBody(call.request, candidate);
  const watch = startWatch(deps.clock, call.deadline, call.scope.clientGone);
  const limitMs = Math.min(silenceLimitMs, firstChunkLimitMs(call, candidate));
  if (Number.isFinite(limitMs)) watch.expect('silent', limitMs);
  // A JSON answer that drips in is no answer yet: those behind this candidate keep their time all the same.
  const silentUntilMs = deps.clock.nowMs() + silenceLimitMs;
  const idle = () => {
    const { idle_timeout_ms: idleMs } = candidate.provider;
    watch.expect('idle', Math.min(idleMs, silentUntilMs - deps.clock.nowMs()));
  };
  try {
    const url = new URL(`${candidate.provider.base_url}/chat/completions`);
    const plain = upstreamHeaders(call, credential.authorization);
    const answer = await deps.transport.send({
      url,
      headers: (await credential.sign?.({ url, headers: plain, body })) ?? plain,
      body,
      connectTimeoutMs: candidate.provider.connect_timeout_ms,
      signal: watch.signal,
    });
    const outcome = await readOutcome(deps, call, { candidate, answer, watch, idle });
    if (outcome.kind === 'failure') return outcome;
    return { ...outcome, promptBytes: Buffer.byteLength(body), answeredAtMs: deps.clock.nowMs() };
  } catch (error) {
    watch.abort();
    return { kind: 'failure', failure: readBrokenStream(error, watch) };
  }
}

type ReadOutcome =
  | { readonly kind: 'success'; readonly success: AttemptSuccess }
  | { readonly kind: 'failure'; readonly failure: AttemptFailure };

interface Reading {
  readonly candidate: Candidate;
  readonly answer: UpstreamAnswer;
  readonly watch: Watch;
  /** To be called whenever a part of a JSON answer, or of an error, has come. */
  readonly idle: () => void;
}

async function readOutcome(
  deps: ChatDependencies,
  call: ClaimedCall,
  { candidate: { provider }, answer, watch, idle }: Reading,
): Promise<ReadOutcome> {
  const isSuccess = answer.status >= 200 && answer.status < 300;
  if (isSuccess && call.request.stream && !isJson(answer)) {
    return {
      kind: 'success',
      success: { kind: 'stream', stream: await openStream(answer, watch, provider.idle_timeout_ms) },
    };
  }
  const reading = readBoundedBody(answer.body, isSuccess ? upstreamBodyMaxBytes : upstreamErrorMaxBytes, idle);
  // An error body that breaks off still has its status.
  const text = isSuccess ? await reading : await reading.catch(() => undefined);
  if (text === undefined) watch.abort();
  else watch.release();
  if (!isSuccess) {
    const retryAfterSeconds = readRetryAfterSeconds(answer.headers, deps.clock.nowMs());
    const failure = classifyStatus(answer.status, parseLenient(text), retryAfterSeconds);
    // Not only a 429 may name a time: an overloaded provider's 503 does too.
    return { kind: 'failure', failure: { ...failure, retryAfterSeconds } };
  }
  const read = text === undefined ? { kind: 'unreadable' as const } : readJsonAnswer(text);
  if (read.kind === 'error') return { kind: 'failure', failure: classifyErrorObject(read.error) };
  if (read.kind === 'unreadable' || call.request.stream) return failed('unreadable_answer');
  return { kind: 'success', success: { kind: 'json', answer: read.answer } };
}

const failed = (cause: string): { kind: 'failure'; failure: AttemptFailure } => ({
  kind: 'failure',
  failure: { kind: 'failed', cause },
});

/** A JSON answer is silent until it is finished, so only a limit that the operator wrote binds it. */
function firstChunkLimitMs({ request }: ClaimedCall, { provider }: Candidate): number {
  const fallbackMs = request.stream ? firstChunkTimeoutDefaultMs : Number.POSITIVE_INFINITY;
  return provider.first_chunk_timeout_ms ?? fallbackMs;
}

/** Built from the plan alone: nothing a client sends decides where or how a provider is called. */
function upstreamHeaders({ scope, request }: ClaimedCall, authorization: string | undefined): Record<string, string> {
  const { traceparent } = scope.correlation;
  return {
    accept: request.stream ? 'text/event-stream' : 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': 'gw',
    ...(authorization === undefined ? {} : { authorization }),
    ...(traceparent === undefined ? {} : { [headerNames.traceparent]: traceparent }),
  };
}

const isJson = ({ headers }: UpstreamAnswer): boolean =>
  String(headers['content-type'] ?? '').includes('application/json');

/** An error body may be HTML or nothing at all: then only the status speaks. */
function parseLenient(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
