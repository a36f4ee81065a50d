// Creates the `send` through which a format calls a candidate. `send` adds URL, credential and signature, ends a call
// that is silent for too long, and classifies unsuccessful answers. Failures are values; a broken connection rejects.
import { once } from '../../../shared/foundation/cache/index.ts';
import { headerNames, streamReadOnMaxMs, upstreamErrorMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { ConnectionBroken, readText as readBody } from '../../../shared/foundation/outgoing/index.ts';
import { type Clock, sleep } from '../../../shared/foundation/time/index.ts';
import {
  AnswerNotKept,
  type AnswerParts,
  type AnswerPath,
  type AnswerReservation,
  openAnswerReservation,
} from '../../../shared/protocol/memory-budget/index.ts';
import type { CandidateRequest, NoAnswer, OpenPart, Pause, Send } from '../../../shared/routing/formats/index.ts';
import {
  type AttemptFailure,
  classifyStatus,
  type DescribeText,
  readProviderText,
  readRetryAfterSeconds,
  readRetryDelaySeconds,
  startWatch,
  type UpstreamAnswer,
  type Watch,
} from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { type CalledCandidate, type CallToSend, type PreparedCall, prepareCall } from './prepare-call.ts';
import { limitSilence, type Silence } from './silence.ts';

/** State of one call, from before it is sent. */
export interface ProviderConnection {
  readonly watch: Watch;
  readonly silence: Silence;
  isSent: boolean;
  /** True once the provider has accepted the call, and therefore charges for it. */
  isAccepted: boolean;
  /** Set if the provider finished an answer that was too long, or if memory for the answer was missing. */
  refused: AttemptFailure | undefined;
  /** Memory of a whole answer. */
  readonly memory: AnswerReservation;
  /** True if the call went to a pooled socket that had died, most likely before the request was sent. */
  wasDead: boolean;
}

export interface Sending {
  readonly send: Send;
  readonly openPart: OpenPart;
  readonly pause: Pause;
  readonly connection: ProviderConnection;
}

/** Rules for one attempt of a call. */
export interface AttemptRules {
  readonly traceparent: string | undefined;
  readonly answerMaxBytes: () => number;
  /** Infinite for the last candidate, which need not leave time for another candidate. */
  readonly silenceLimitMs: number;
  /** The path of a whole answer, which determines the memory that the answer needs. */
  readonly answerPath: AnswerPath;
  /** Upper bounds, in bytes, of the copies of a stream that are stored until its end. */
  readonly streamCopies: readonly number[];
  /** Called with the prepared call before it is sent. */
  readonly onPrepared?: ((prepared: PreparedCall) => void) | undefined;
  /** Called once, when the whole request was sent, or when no more of the request will be sent. */
  readonly onSent: () => void;
}

export function createSend(
  deps: GatewayDependencies,
  call: CallToSend,
  candidate: CalledCandidate,
  rules: AttemptRules,
): Sending {
  const { clock } = deps;
  const requestText = () => call.modelCall.request.text().text;
  const parts: AnswerReservation[] = [];
  const connection = openConnection(deps, call, candidate, rules, parts);
  const { watch, silence, memory } = connection;
  const open = openRequests({ deps, call, candidate, rules, connection });

  const send: Send = async (request) => {
    const opening = open(request);
    const opened = opening instanceof Promise ? await opening : opening;
    if ('failure' in opened) return { kind: 'failure', failure: opened.failure };
    const { secrets, hostname } = opened;
    const answer = await opened.answering;
    const describe = (body: unknown) => readProviderText(body, { secrets, hostname, requestText });
    if (answer.status >= 200 && answer.status < 300) {
      connection.isAccepted = true;
      const maxBytes = rules.answerMaxBytes();
      return {
        kind: 'answer',
        contentType: String(answer.headers['content-type'] ?? ''),
        header: (name) => answer.headers[name]?.toString(),
        body: memory.assembling(silence.timed(answer.body)),
        onEvent: memory.eventCame,
        onEnd: silence.endCame,
        drain() {
          watch.finish();
          answer.drain();
        },
        readText: () => readWhole(connection, answer, maxBytes),
        describe,
      };
    }
    // An error body that breaks off still has its status.
    const text = await readAnswer(connection, answer, upstreamErrorMaxBytes).catch(() => undefined);
    endReading(connection, text);
    const classified = classifyAnswer(answer, text, describe, clock.nowMs());
    memory.release();
    return classified;
  };
  const openPart: OpenPart = () => {
    const part = createSend(deps, call, candidate, { ...rules, onSent: () => {} });
    const { memory: partMemory, watch: partWatch } = part.connection;
    watch.signal.addEventListener('abort', partWatch.abort, { once: true });
    connection.isSent = true;
    parts.push(partMemory);
    return {
      send: part.send,
      keep: partMemory.release,
      wasDead: () => part.connection.wasDead,
      refused: () => part.connection.refused,
    };
  };
  return { send, openPart, pause: pauseOf(clock, call, rules, watch), connection };
}

interface RequestOpening {
  readonly deps: GatewayDependencies;
  readonly call: CallToSend;
  readonly candidate: CalledCandidate;
  readonly rules: AttemptRules;
  readonly connection: ProviderConnection;
}

/**
 * Returns a function that sends a request. Nothing refers to a body once it has left, because the client's own text is
 * still there for another candidate.
 */
function openRequests({ deps, call, candidate, rules, connection }: RequestOpening) {
  function start(prepared: PreparedCall) {
    const { secrets, ...upstream } = prepared;
    rules.onPrepared?.(prepared);
    connection.isSent = true;
    connection.silence.begin();
    const connectTimeoutMs = candidate.provider.connect_timeout_ms;
    const onSent = once(rules.onSent);
    const { signal } = connection.watch;
    const answering = deps.transport.send({ ...upstream, connectTimeoutMs, signal, onSent }).then(
      (answer) => {
        onSent();
        return answer;
      },
      (error: unknown) => {
        onSent();
        connection.wasDead = error instanceof ConnectionBroken && error.wasDead;
        throw error;
      },
    );
    return { answering, secrets, hostname: upstream.url.hostname };
  }
  const begin = (preparation: Awaited<ReturnType<typeof prepareCall>>) =>
    'failure' in preparation ? preparation : start(preparation);
  return (request: CandidateRequest) => {
    const preparing = prepareCall(deps, call, candidate, { ...request, traceparent: rules.traceparent });
    return preparing instanceof Promise ? preparing.then(begin) : begin(preparing);
  };
}

const bytesFor = ({ memory }: ProviderConnection, { headers, body }: UpstreamAnswer, maxBytes: number) =>
  memory.reserving(body, Math.min(Number(headers['content-length']) || 0, maxBytes));

/** Reads a text to its end; undefined if it is longer than `maxBytes`. */
function readAnswer(
  connection: ProviderConnection,
  answer: UpstreamAnswer,
  maxBytes: number,
): Promise<string | undefined> {
  return readBody(bytesFor(connection, answer, maxBytes), maxBytes, connection.silence.partCame);
}

/** Called with a text that was read to its end, or with undefined if it is too long. */
function endReading({ watch }: ProviderConnection, text: string | undefined): void {
  if (text === undefined) watch.abort();
  else watch.finish();
}

/** Reads a successful answer. Sets `refused` if the answer is too long, or if there is no memory for the answer. */
function readWhole(
  connection: ProviderConnection,
  answer: UpstreamAnswer,
  maxBytes: number,
): Promise<string | undefined> {
  return readAnswer(connection, answer, maxBytes).then(
    (text) => {
      endReading(connection, text);
      if (text !== undefined) return text;
      const unusedAnswer = { usage: undefined, outputBytes: maxBytes };
      connection.refused = { kind: 'failed', cause: 'answer_too_large', unusedAnswer };
      return undefined;
    },
    (error: unknown) => {
      if (error instanceof AnswerNotKept) connection.refused = unkeptAnswer(error);
      throw error;
    },
  );
}

/** Waits before a retry without using the time that other candidates need. */
const pauseOf =
  (
    clock: Clock,
    { parsed: { deadline, scope } }: CallToSend,
    { silenceLimitMs }: AttemptRules,
    { signal }: Watch,
  ): Pause =>
  async (seconds) => {
    const waitMs = seconds * 1_000;
    if (waitMs >= Math.min(deadline.remainingMs(), silenceLimitMs)) return false;
    await sleep(clock, waitMs, signal);
    return !signal.aborted && !scope.clientGone.aborted;
  };

function openConnection(
  { clock }: GatewayDependencies,
  { parsed: { scope, deadline }, modelCall, cancelSignal: stopped }: CallToSend,
  { provider }: CalledCandidate,
  { silenceLimitMs: limitMs, answerPath: path, streamCopies }: AttemptRules,
  parts: readonly AnswerReservation[],
): ProviderConnection {
  const { stream: isStream } = modelCall.request;
  const graceMs = isStream ? streamReadOnMaxMs : Number.POSITIVE_INFINITY;
  const { clientGone, memory } = scope;
  const watch = startWatch(clock, deadline, { clientGone, stopped, graceMs });
  const silence = limitSilence(clock, watch, { provider, isStream, limitMs });
  const options = { path, signal: watch.signal, clientGone, streamCopies };
  const answerMemory = openAnswerReservation(() => memory.openAnswer(), options);
  const release: AnswerReservation['release'] = (remains) => {
    if (parts.length === 0) return answerMemory.release(remains);
    for (const part of parts) part.release(remains && shareOf(remains, parts.length));
  };
  return {
    watch,
    silence,
    isSent: false,
    isAccepted: false,
    refused: undefined,
    memory: { ...answerMemory, release },
    wasDead: false,
  };
}

/** The answer to a call in parts is in the memory of its parts. */
const shareOf = (parts: AnswerParts, count: number): AnswerParts =>
  Object.fromEntries(Object.entries(parts).map(([part, bytes]) => [part, bytes / count]));

/** Returns the failure for an answer without memory. The provider has produced the answer, so the answer is charged. */
export const unkeptAnswer = ({ cameBytes, refusal }: AnswerNotKept): AttemptFailure => ({
  kind: 'failed',
  cause: 'no_memory',
  isOurFault: true,
  refusal,
  unusedAnswer: { usage: undefined, outputBytes: cameBytes },
});

function classifyAnswer(
  { status, headers }: UpstreamAnswer,
  text: string | undefined,
  describe: DescribeText,
  nowMs: number,
): NoAnswer {
  const body = parseLenient(text);
  const retryAfterSeconds = readRetryAfterSeconds(headers, nowMs) ?? readRetryDelaySeconds(body);
  const errorType = headers[headerNames.amznErrorType];
  const failure = classifyStatus(
    status,
    body,
    retryAfterSeconds,
    errorType === undefined ? undefined : String(errorType),
  );
  // A status other than 429 may name a wait too, for example the 503 of an overloaded provider.
  return { kind: 'failure', failure: { ...failure, retryAfterSeconds, providerText: describe(body) } };
}

/**
 * Returns undefined for an error body that is not JSON, such as HTML or nothing. Then the status alone classifies the
 * failure, and the text is logged.
 */
function parseLenient(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return text;
  }
}
