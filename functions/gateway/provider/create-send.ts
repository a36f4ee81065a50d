// The `send` that a format calls a candidate through: adds URL, credential and signature, ends a call that is silent for too
// long, and classifies what is no success. Failures are values; a connection that breaks rejects.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import {
  firstChunkTimeoutDefaultMs,
  streamReadOnMaxMs,
  upstreamErrorMaxBytes,
} from '../../../shared/foundation/constants/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import type { RefusedAnswer } from '../../../shared/protocol/interfaces/index.ts';
import type { NoAnswer, Send } from '../../../shared/routing/formats/index.ts';
import {
  classifyStatus,
  type DescribeText,
  readBoundedBody,
  readProviderText,
  readRetryAfterSeconds,
  readRetryDelaySeconds,
  startWatch,
  type UpstreamAnswer,
  type Watch,
} from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ModelCall } from '../stages.ts';
import { prepareCall } from './prepare-call.ts';
import { type TimedBytes, timeBytes } from './time-bytes.ts';

export interface Sending {
  readonly send: Send;
  /** The JSON answer that came was longer than any may be. */
  readonly tooLong: () => RefusedAnswer | undefined;
  /** Of the call that was sent. Undefined: none was yet. */
  readonly watch: () => Watch | undefined;
  /** Its first output is there: it has until another deadline. */
  readonly beginStream: (deadline: Deadline) => void;
  /** From now on no byte may be longer away than the provider's idle limit. */
  readonly limitIdle: () => void;
}

/** `silenceLimitMs`: infinite for the last candidate, which leaves no time for another. */
export function createSend(
  deps: GatewayDependencies,
  call: ModelCall,
  candidate: Candidate,
  silenceLimitMs: number,
): Sending {
  const { clock } = deps;
  let watch: Watch | undefined;
  let idleTimeoutMs: number | undefined;
  let timed: TimedBytes | undefined;
  let tooLong: RefusedAnswer | undefined;

  async function send(request: Parameters<Send>[0]): ReturnType<Send> {
    const prepared = await prepareCall(deps, call, candidate, request);
    if ('failure' in prepared) return { kind: 'failure', failure: prepared.failure };
    const { secrets, ...upstream } = prepared;
    const { watched, onBytes } = watchCall(deps, call, candidate, silenceLimitMs);
    watch = watched;
    const answer = await deps.transport.send({
      ...upstream,
      connectTimeoutMs: candidate.provider.connect_timeout_ms,
      signal: watched.signal,
    });
    const readText = async (maxBytes: number) => {
      const text = await readBoundedBody(answer.body, maxBytes, onBytes);
      if (text === undefined) watched.abort();
      else watched.release();
      return text;
    };
    const { hostname } = upstream.url;
    const requestText = () => call.request.text().text;
    const describe = (body: unknown) => readProviderText(body, { secrets, hostname, requestText });
    if (answer.status >= 200 && answer.status < 300) {
      const contentType = String(answer.headers['content-type'] ?? '');
      const { drain } = answer;
      timed = timeBytes(answer.body, watched, () => idleTimeoutMs);
      return {
        kind: 'answer',
        contentType,
        body: timed,
        drain,
        readText: async () => {
          const { answerMaxBytes } = call.clientInterface;
          const text = await readText(answerMaxBytes);
          if (text === undefined) tooLong = { usage: undefined, outputBytes: answerMaxBytes };
          return text;
        },
        describe,
      };
    }
    // An error body that breaks off still has its status.
    const text = await readText(upstreamErrorMaxBytes).catch(() => {
      watched.abort();
      return undefined;
    });
    return classifyAnswer(answer, text, describe, clock.nowMs());
  }
  const beginStream = (deadline: Deadline) => {
    watch?.pause();
    watch?.extend(deadline);
  };
  const limitIdle = () => {
    idleTimeoutMs = candidate.provider.idle_timeout_ms;
    if (timed?.isAwaited() === true) watch?.expect('idle', idleTimeoutMs);
  };
  return { send, tooLong: () => tooLong, watch: () => watch, beginStream, limitIdle };
}

/** `onBytes` is called whenever a part of a JSON answer, or of an error, has come. */
function watchCall(
  { clock }: GatewayDependencies,
  { clientGone, stopped, request, deadline }: ModelCall,
  { provider }: Candidate,
  silenceLimitMs: number,
): { readonly watched: Watch; readonly onBytes: () => void } {
  const graceMs = request.stream ? streamReadOnMaxMs : Number.POSITIVE_INFINITY;
  const watched = startWatch(clock, deadline, { clientGone, stopped, graceMs });
  // A JSON answer is silent until it is finished, so only a limit that the operator wrote binds it.
  const defaultMs = request.stream ? firstChunkTimeoutDefaultMs : Number.POSITIVE_INFINITY;
  // A limit on the last candidate saves time that no other one uses, so it holds there only where it is written.
  const isLast = !Number.isFinite(silenceLimitMs);
  const limitMs = Math.min(
    silenceLimitMs,
    provider.first_chunk_timeout_ms ?? (isLast ? Number.POSITIVE_INFINITY : defaultMs),
  );
  if (Number.isFinite(limitMs)) watched.expect('silent', limitMs);
  // A JSON answer that drips in is no answer yet: the candidates behind this one keep their time all the same.
  const silentUntilMs = clock.nowMs() + silenceLimitMs;
  const onBytes = () => watched.expect('idle', Math.min(provider.idle_timeout_ms, silentUntilMs - clock.nowMs()));
  return { watched, onBytes };
}

function classifyAnswer(
  { status, headers }: UpstreamAnswer,
  text: string | undefined,
  describe: DescribeText,
  nowMs: number,
): NoAnswer {
  const body = parseLenient(text);
  const retryAfterSeconds = readRetryAfterSeconds(headers, nowMs) ?? readRetryDelaySeconds(body);
  const errorType = headers['x-amzn-errortype'];
  const failure = classifyStatus(
    status,
    body,
    retryAfterSeconds,
    errorType === undefined ? undefined : String(errorType),
  );
  // Not only a 429 may name a time: an overloaded provider's 503 does too.
  return { kind: 'failure', failure: { ...failure, retryAfterSeconds, providerText: describe(body) } };
}

/** An error body may be HTML or nothing at all: then the status alone classifies it, and the text goes to the log. */
function parseLenient(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return text;
  }
}
