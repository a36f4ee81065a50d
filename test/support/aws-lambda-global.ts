// The `awslambda` global of the Node 24 runtime, with the semantics that make it dangerous (measured on the runtime
// client 4.0.2): `from` prepares the prelude and only the first `write` sends it, `end(text)` bypasses it, a late
// prelude throws, a write after the end or a failed request kills the process, a destroyed request kills it too while
// the runtime listens to it, and the stream is a facade.
import { EventEmitter } from 'node:events';

/** Effects of one invocation, byte for byte. */
export interface Invocation {
  /** Returns every byte that was sent to the Runtime API, prelude included. */
  bytes(): Buffer;
  /** Returns the parsed prelude, which precedes eight NUL bytes. */
  prelude(): { statusCode: number; headers: Record<string, string> };
  bodyText(): string;
  /** Arguments of each `write`, in order. */
  readonly writes: unknown[];
  /** Arguments of each `end`. */
  readonly ends: unknown[][];
  readonly contentType: () => string;
  /** Reasons for which the process would have died. */
  readonly deaths: string[];
  /** Reason for which the runtime would have marked the invocation as failed, if any. */
  failure: unknown;
  /**
   * Whether the invocation hangs until the function's time limit: the handler has returned and the stream has not
   * ended.
   */
  hangs: boolean;
  /** Whether its request to the Runtime API was broken off. */
  isCut: boolean;
}

export interface StreamControl {
  readonly invocation: Invocation;
  /** Makes every `write` return false. */
  block(): void;
  /** Makes `write` return true again, and notifies the writer. */
  drain(): void;
  /** Returns the number of listeners for `drain`. */
  waitingForDrain(): number;
  fail(cause: Error): void;
}

type Handler = (event: unknown, stream: never, context: never) => Promise<unknown>;

const streamingMark = Symbol.for('aws.lambda.runtime.handler.streaming');
const preludeType = 'application/vnd.awslambda.http-integration-response';
const preludeEnd = Buffer.alloc(8);

export function installAwsLambda(): { built: Handler[]; uninstall: () => void } {
  const built: Handler[] = [];
  const runtime = {
    streamifyResponse: (handler: Handler) => {
      built.push(handler);
      return Object.assign(handler, { [streamingMark]: 'response' });
    },
    HttpResponseStream: { from: armPrelude },
  };
  Object.assign(globalThis, { awslambda: runtime });
  return { built, uninstall: () => Reflect.deleteProperty(globalThis, 'awslambda') };
}

/**
 * Invokes a handler as the runtime does: the handler gets a stream, and both its promise and the stream's end count.
 */
export async function invoke(
  handler: unknown,
  event: unknown,
  context: object = {},
  prepare: (control: StreamControl) => void = () => {},
): Promise<Invocation> {
  if (Reflect.get(handler as object, streamingMark) !== 'response') throw new Error('not a streaming handler');
  const { stream, control } = createStream();
  prepare(control);
  const { invocation } = control;
  try {
    const result = await (handler as Handler)(event, stream as never, context as never);
    if (result !== undefined) invocation.failure = new Error('Streaming handlers ignore return values.');
  } catch (cause) {
    invocation.failure = cause;
  }
  invocation.hangs = invocation.ends.length === 0 && invocation.failure === undefined;
  return invocation;
}

interface Facade {
  setContentType(type: string): void;
  _onBeforeFirstWrite?: (write: (chunk: Uint8Array | string) => void) => void;
}

function armPrelude<Stream extends Facade>(stream: Stream, prelude: unknown): Stream {
  stream.setContentType(preludeType);
  const json = JSON.stringify(prelude);
  stream._onBeforeFirstWrite = (write) => {
    write(json);
    write(preludeEnd);
  };
  return stream;
}

function createStream() {
  const chunks: Buffer[] = [];
  const emitter = new EventEmitter();
  const state = { contentType: 'application/octet-stream', written: false, ended: false, blocked: false };
  const invocation: Invocation = {
    bytes: () => Buffer.concat(chunks),
    prelude: () => JSON.parse(splitPrelude(chunks).head),
    bodyText: () => splitPrelude(chunks).body,
    contentType: () => state.contentType,
    writes: [],
    ends: [],
    deaths: [],
    failure: undefined,
    hangs: false,
    isCut: false,
  };
  emitter.on('error', (cause) => invocation.deaths.push(`unhandled rejection: ${cause.message}`));
  const stream = {
    setContentType(type: string) {
      if (state.written) throw new Error('InvalidStreamingOperation: Cannot set content-type, too late.');
      state.contentType = type;
    },
    write(chunk: unknown) {
      invocation.writes.push(chunk);
      if (state.ended || invocation.isCut) {
        invocation.deaths.push(state.ended ? 'ERR_STREAM_WRITE_AFTER_END' : 'ERR_STREAM_DESTROYED');
        return false;
      }
      const isPlain = typeof chunk === 'string' || Buffer.isBuffer(chunk) || chunk instanceof Uint8Array;
      if (!state.written) (stream as Facade)._onBeforeFirstWrite?.((part) => chunks.push(Buffer.from(part as string)));
      state.written = true;
      chunks.push(Buffer.from((isPlain ? chunk : JSON.stringify(chunk)) as string));
      return !state.blocked;
    },
    end(...parts: unknown[]) {
      invocation.ends.push(parts);
      if (state.ended) invocation.deaths.push('ERR_STREAM_ALREADY_FINISHED');
      state.ended = true;
      // A text that `end` gets is sent without `write`, so it arrives without a prelude.
      if (typeof parts[0] === 'string') chunks.push(Buffer.from(parts[0]));
    },
    destroy() {
      if (invocation.isCut || state.ended) return;
      invocation.isCut = true;
      process.nextTick(() => emitter.emit('error', new Error('socket hang up')));
    },
    on: emitter.on.bind(emitter),
    removeAllListeners: emitter.removeAllListeners.bind(emitter),
    once: emitter.once.bind(emitter),
    off: emitter.off.bind(emitter),
    get writableEnded() {
      return state.ended;
    },
  };
  const control: StreamControl = {
    invocation,
    block: () => {
      state.blocked = true;
    },
    drain: () => {
      state.blocked = false;
      emitter.emit('drain');
    },
    waitingForDrain: () => emitter.listenerCount('drain'),
    fail: (cause) => emitter.emit('error', cause),
  };
  return { stream, control };
}

function splitPrelude(chunks: readonly Buffer[]): { head: string; body: string } {
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf(preludeEnd);
  if (end < 0) throw new Error('no prelude was sent');
  return { head: bytes.toString('utf8', 0, end), body: bytes.toString('utf8', end + preludeEnd.length) };
}
