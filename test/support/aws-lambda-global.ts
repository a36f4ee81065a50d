// The `awslambda` global of the Node 24 runtime, with the semantics that make it dangerous (measured on the runtime
// client 4.0.2): the prelude is armed by `from` and sent by the first `write` only, `end(text)` goes around it, a late
// prelude throws, a write after the end or a failed request kills the process, a destroyed one too while the runtime
// listens to it, and the stream is a facade.
import { EventEmitter } from 'node:events';

/** Effects of one invocation, byte for byte. */
export interface Invocation {
  /** Everything that went to the Runtime API, prelude included. */
  bytes(): Buffer;
  /** The parsed prelude, and the text behind its eight NUL bytes. */
  prelude(): { statusCode: number; headers: Record<string, string> };
  bodyText(): string;
  /** Arguments of each `write`, in order. */
  readonly writes: unknown[];
  /** Arguments of each `end`. */
  readonly ends: unknown[][];
  readonly contentType: () => string;
  /** Reasons for which the process would have died. */
  readonly deaths: string[];
  /** Why the runtime would have called the invocation failed, if so. */
  failure: unknown;
  /** The invocation hangs until the function's time limit: the handler is done and the stream has not ended. */
  hangs: boolean;
  /** Its request to the Runtime API was broken off. */
  isCut: boolean;
}

export interface StreamControl {
  readonly invocation: Invocation;
  /** While blocked every `write` answers false. */
  block(): void;
  /** Unblocks, and notifies the writer. */
  drain(): void;
  /** How many listeners wait for `drain`. */
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

/** As the runtime does it: the handler gets a stream, and both its promise and the stream's end are looked at. */
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
      // Not through `write`: a text given here arrives without a prelude.
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
