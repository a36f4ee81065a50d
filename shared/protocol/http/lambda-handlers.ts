// Creates the handlers of function URLs. middy has two roles: `before` turns the event into a request, and `onError`
// turns an escaped error into the envelope. Nothing else may depend on middy, because `after` runs before a streamed
// body is produced, and `onError` sees no failure inside a body.
import middy from '@middy/core';
import { answerBroken } from '../../foundation/constants/index.ts';
import { deliverBody, runFinish, type TextSink } from './delivery.ts';
import { internalErrorAnswer } from './error-answers.ts';
import type { AdapterDependencies, Gateway, GatewayRequest, GatewayResponse } from './exchange.ts';
import { toGatewayRequest } from './lambda-event.ts';

interface HandledRequest {
  readonly response: GatewayResponse;
  readonly arrivedAtMs: number;
  /** Time at which Lambda ends the invocation. */
  readonly endsAtMs: number | undefined;
}

interface BufferedAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A handler with two parameters. Node 24 refuses a handler with three parameters, because it seems to expect a
 * callback.
 */
type BufferedHandler = (event: unknown, context: LambdaContext) => Promise<BufferedAnswer>;

/** Creates a handler for BUFFERED: the answer is returned whole, so `finish` is awaited before it. */
export function createBufferedHandler(gateway: Gateway, dependencies: AdapterDependencies): BufferedHandler {
  const run = wrapInMiddy((request, context) => gateway(request, { ...context, answersLast: true }), dependencies);
  return async (event, context) => {
    doNotWaitForIdleSockets(context);
    const { response, arrivedAtMs, endsAtMs } = (await run(event, context as never)) as HandledRequest;
    const pieces: string[] = [];
    const sink: TextSink = { write: (text) => pieces.push(text) > 0, once: () => sink, off: () => sink };
    await deliverBody({ response, sink, arrivedAtMs, clientGone: neverAborts() }, dependencies);
    await runFinish(response, dependencies, endsAtMs);
    return { statusCode: response.status, headers: { ...response.headers }, body: pieces.join('') };
  };
}

/**
 * Creates a handler for RESPONSE_STREAM with its own execution mode, because middy's mode uses `pipeline`, which kills
 * the process when a body fails, and cannot run work after the last byte. Throws if there is no Lambda runtime, so call
 * it in the handler file only.
 */
export function createStreamingHandler(gateway: Gateway, dependencies: AdapterDependencies): StreamingHandler {
  const runtime = lambdaRuntime();
  const executionMode = ({ middyRequest, runRequest }: MiddyCore, ...stages: readonly unknown[]) =>
    runtime.streamifyResponse(async (event, stream, context) => {
      doNotWaitForIdleSockets(context);
      const result = await runRequest(middyRequest(event, context), ...stages);
      const isCut = await sendThrough(runtime, stream, result, dependencies);
      // The work runs inside the invocation, because a frozen process settles nothing, and after the last byte, because
      // the client need not wait.
      await runFinish(result.response, dependencies, result.endsAtMs);
      if (!isCut) return;
      // Lambda counts the cut as an error of the function, which is wrong. Alarms subtract these lines.
      dependencies.log.info({ event: answerBroken });
      // Without an error the runtime would wait for the end of the answer.
      throw new Error('the answer broke, and is cut off');
    });
  return wrapInMiddy(gateway, dependencies, executionMode) as never;
}

/**
 * Sends the answer, and returns whether it was cut. The code follows three rules of the runtime: only a `write` sends
 * status and headers, only `end` or an error ends the invocation, and nothing may be written after it.
 */
async function sendThrough(
  runtime: LambdaRuntime,
  stream: LambdaResponseStream,
  { response, arrivedAtMs }: HandledRequest,
  dependencies: AdapterDependencies,
): Promise<boolean> {
  const { status, headers, body } = response;
  const sink = runtime.HttpResponseStream.from(stream, { statusCode: status, headers: { ...headers } });
  const disconnect = new AbortController();
  sink.once('error', () => disconnect.abort());
  let isCut = false;
  const cut = () => {
    isCut = true;
    breakOff(sink);
  };
  try {
    // The headers of a stream are sent at once, even if it never yields.
    if (typeof body !== 'string') sink.write('');
    await deliverBody({ response, sink, arrivedAtMs, clientGone: disconnect.signal, cut }, dependencies);
  } finally {
    if (!isCut && !sink.writableEnded) sink.end();
  }
  return isCut;
}

/**
 * Breaks the answer off. Lambda recognizes the incomplete answer by a request to the runtime that ends too early; a
 * thrown error would only add a trailer after a successful end. The runtime's own listeners would leave unhandled
 * rejections.
 */
function breakOff(stream: LambdaResponseStream): void {
  stream.removeAllListeners('error');
  stream.on('error', () => {});
  stream.destroy();
}

type Plugin = NonNullable<Parameters<typeof middy>[1]>;

/**
 * The arguments that middy passes to an execution mode, as far as they are used. The published type says `() => void`.
 */
interface MiddyCore {
  middyRequest(event: unknown, context: unknown): object;
  runRequest(invocation: object, ...stages: readonly unknown[]): Promise<HandledRequest>;
}

/** Wraps a handler in middy; without `executionMode` it returns the answer. */
function wrapInMiddy(
  gateway: Gateway,
  dependencies: AdapterDependencies,
  executionMode?: unknown,
): (event: unknown, context: never) => Promise<unknown> {
  const { clock } = dependencies;
  const endOf = (context: LambdaContext | undefined): number | undefined => {
    const remainingMs = context?.getRemainingTimeInMillis?.();
    return remainingMs === undefined ? undefined : clock.nowMs() + remainingMs;
  };
  const handle = async (request: GatewayRequest, context?: LambdaContext): Promise<HandledRequest> => {
    const endsAtMs = endOf(context);
    const answer = await gateway(request, { clientGone: neverAborts(), endsAtMs });
    // A GET endpoint answers HEAD too, and its body is text.
    const response = request.method === 'HEAD' ? { ...answer, body: '' } : answer;
    return { response, arrivedAtMs: request.arrivedAtMs, endsAtMs };
  };
  // middy's own early timeout would answer in the gateway's place and does not cover the body. The call's budget has
  // its own deadlines.
  const plugin = { timeoutEarlyInMillis: 0, ...(executionMode ? { executionMode } : {}) } as Plugin;
  return middy(handle as never, plugin)
    .before((invocation) => {
      invocation.event = toGatewayRequest(invocation.event, clock);
    })
    .onError((invocation) => {
      invocation.response = {
        response: internalErrorAnswer(invocation.error, dependencies),
        arrivedAtMs: clock.nowMs(),
        endsAtMs: undefined,
      } satisfies HandledRequest;
    }) as never;
}

/**
 * Returns a signal that never aborts, because Lambda does not report that a client left. Each request gets its own
 * signal, because a shared signal would collect listeners.
 */
const neverAborts = (): AbortSignal => new AbortController().signal;

// Types of the used part of the `awslambda` global, which only the Lambda runtime defines. The global is read when a
// handler is created, never on import, so that everything else can be loaded without it.

/** The reliable part of the response stream of one invocation. */
interface LambdaResponseStream {
  write(text: string): boolean;
  write(text: string, encoding: 'latin1'): boolean;
  end(): void;
  destroy(): unknown;
  removeAllListeners(event: 'error'): unknown;
  on(event: 'error', listener: () => void): unknown;
  once(event: 'drain' | 'error', listener: (cause?: unknown) => void): unknown;
  off(event: 'drain' | 'error', listener: (cause?: unknown) => void): unknown;
  readonly writableEnded: boolean;
}

interface LambdaContext {
  callbackWaitsForEmptyEventLoop?: boolean;
  getRemainingTimeInMillis?(): number;
}

/** A streaming handler, the only kind for which Node runtimes accept three parameters. */
type StreamingHandler = (event: unknown, stream: LambdaResponseStream, context: LambdaContext) => Promise<void>;

interface LambdaRuntime {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  HttpResponseStream: {
    /** Sets the prelude (status and headers). The first `write` sends it, and nothing else does. */
    from(
      stream: LambdaResponseStream,
      prelude: { statusCode: number; headers: Record<string, string> },
    ): LambdaResponseStream;
  };
}

function lambdaRuntime(): LambdaRuntime {
  // The global is read as a property, because a bundler may rename variables, but never a property of `globalThis`.
  const runtime = (globalThis as unknown as { awslambda?: LambdaRuntime }).awslambda;
  if (runtime === undefined) throw new Error('a streaming handler can only be built inside the Lambda runtime');
  return runtime;
}

/**
 * Makes the runtime ignore idle sockets. Up to Node 22 the runtime waits for idle sockets before it accepts the next
 * event, and bills that time.
 */
function doNotWaitForIdleSockets(context: LambdaContext | undefined): void {
  if (context && 'callbackWaitsForEmptyEventLoop' in context) context.callbackWaitsForEmptyEventLoop = false;
}
