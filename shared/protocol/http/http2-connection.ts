// Serves one HTTP/2 connection, which may have several requests at once, each with the limits of a connection. Node's
// parser makes a stream of each of the 2,000 heads that fit into a read, and buffers the contents of heads and bodies.
// So the parser gets only complete heads, of which all connections together pass few in a turn of the event loop, and
// bytes of unread bodies are counted.
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../foundation/time/index.ts';
import { ConnectionStream, type SharedByConnections } from './connection-stream.ts';
import { frameAt, type Http2Frame, prefaceBytes } from './http2-frames.ts';
import { malformedRequest } from './node-refusals.ts';

/** Maximum number of a connection's requests at once. */
const streamsMax = 100;
/** Bytes that the client of one stream may send before the gateway reads them, as is the default of HTTP/2. */
const windowBytes = 64 * 1024 - 1;
/**
 * Maximum bytes of a compressed head. Node refuses the stream of a head that is longer when decompressed; from 16 KiB
 * on the gateway refuses it.
 */
const packedHeadMaxBytes = 64 * 1024;
/** Maximum number of fields of a head, which is the same for HTTP/1.1. */
const fieldsMax = 2_000;
/** Bound of streams that end before their answer, because their clients leave or break the rules. */
const leavingRate = { burst: 500, perSecond: 33 };
/**
 * Bound of frames that carry no request and no body, and widen no window, which are pings, settings, resets and
 * priorities.
 */
const controlRate = { burst: 1_000, perSecond: 100 };
/** Maximum number of faults in a connection's frames that Node tolerates. */
const faultsMax = 100;
/** Memory that Node uses for a connection that waits for a request, in addition to the memory of its socket. */
const restingBytes = 20 * 1024;
/** Longest time that a client may take to receive the last frames of an ending connection. */
const lastFramesMaxMs = 1_000;

/** Name of a connection's bound. The log gives the name as the reason why the connection was closed. */
type Http2Bound = 'streams_left' | 'control_frames' | 'head_bytes' | 'head_time' | 'unread_bytes' | 'frame_bytes';

interface Http2Times {
  /** Time limit for a head. */
  readonly headMs: number;
  /** Time limit for a whole request. */
  readonly requestMs: number;
  /** Time limit of a connection without a request. */
  readonly idleMs: number;
}

export interface SharedByHttp2 extends SharedByConnections {
  readonly clock: Clock;
  readonly times: Http2Times;
  /** Runs work in this turn of the event loop or, after other work, in a later turn. The work must not fail. */
  spreadHeads(work: () => void): void;
  serve(request: Http2Request): void;
  boundReached(bound: Http2Bound): void;
}

export interface Http2Request {
  readonly stream: ServerHttp2Stream;
  /** Names and values alternating, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** Called when reading of the body begins. */
  bodyAsked(): void;
  keyFound(): void;
}

/** A stream whose request or answer has not ended. */
interface OpenStream {
  readonly destroy: () => void;
  isRead: boolean;
  unreadBytes: number;
}

export class Http2Connection extends ConnectionStream {
  readonly #shared: SharedByHttp2;
  readonly #session: ServerHttp2Session;
  readonly #streams = new Map<number, OpenStream>();
  readonly #leavings: RateBound;
  readonly #controls: RateBound;
  #hasKey = false;
  /** Bytes of the preface that have not been read, and that are not frames. */
  #prefaceLeftBytes = prefaceBytes;
  /** Body's frame whose beginning the parser has received. */
  #dataLeft = { streamId: 0, bytes: 0 };
  /** Bytes of a head that has not ended. */
  #headBytes = 0;
  #isHeadHanded = false;
  #turn: 'none' | 'awaited' | 'here' = 'none';
  #stopHeadTimer = noTimer;
  #stopIdleTimer = noTimer;
  #stopLastTimer = noTimer;

  constructor(socket: Socket, shared: SharedByHttp2) {
    super(socket, shared);
    this.#shared = shared;
    this.#leavings = createRateBound(shared.clock, leavingRate);
    this.#controls = createRateBound(shared.clock, controlRate);
    shared.open.add(this);
    this.#session = performServerHandshake(this, sessionOptions);
    this.#session
      .on('stream', (stream, _headers, flags, rawHeaders) => this.#begin(stream, flags, rawHeaders))
      .on('error', () => {});
    // This listener is called after Node's own listener.
    this.on('data', () => this.passNext());
    this.once('finish', () => this.#endSoon());
    this.#rest();
  }

  /** Takes the bytes that the client has sent. */
  continueWith(bytes: Buffer): void {
    this.receive(bytes);
  }

  /** Accepts no further request, and ends after the last answer. */
  close(): void {
    this.#session.close();
  }

  /** Ends after the written bytes, or without them if the client does not read. */
  override destroySoon(): void {
    super.destroySoon();
    this.#endSoon();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    for (const stop of [this.#stopHeadTimer, this.#stopIdleTimer, this.#stopLastTimer]) stop();
    super._destroy(error, callback);
  }

  /** Unlike the end of a request, the end of the connection means that the client left. */
  protected override endInput(): void {
    this.destroy();
  }

  protected override overflow(): void {
    this.#exceed('unread_bytes');
  }

  protected override onPassed(): void {
    if (this.#session.destroyed) {
      this.dropInput();
      this.#endSoon();
    }
    if (!this.#isHeadHanded) return;
    this.#isHeadHanded = false;
    // Node may have refused the stream.
    if (this.#streams.size === 0) this.#rest();
    else this.#shared.open.endHead(this);
  }

  protected override takePieceBytes(): number {
    this.needsMore = false;
    let length = Math.min(this.#prefaceLeftBytes, this.waiting.length);
    this.#prefaceLeftBytes -= length;
    while (length < this.waiting.length && !this.hasInputEnded) {
      const frame = this.#dataLeft.bytes === 0 ? frameAt(this.waiting, length) : undefined;
      // A head is a separate piece, after the frames before it.
      if (frame?.kind === 'head') return length === 0 && this.#takesHead(frame) ? frame.bytes : length;
      const bytes = this.#dataLeft.bytes > 0 ? this.#dataBytes(length) : this.#frameBytes(frame, length);
      if (bytes === 0) break;
      length += bytes;
    }
    return length;
  }

  #dataBytes(offset: number): number {
    const { streamId, bytes } = this.#dataLeft;
    const length = Math.min(bytes, this.waiting.length - offset);
    this.#dataLeft = { streamId, bytes: bytes - length };
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.isRead) return length;
    stream.unreadBytes += length;
    if (!this.#shared.countWaiting(length)) this.#exceed('unread_bytes');
    return length;
  }

  /** Returns the length of the frame; zero if the parser may not have it yet. */
  #frameBytes(frame: Http2Frame | undefined, offset: number): number {
    this.needsMore = frame?.isWhole !== true;
    if (frame === undefined) return 0;
    const { kind, bytes, isWhole, streamId } = frame;
    if (kind === 'data') {
      this.#dataLeft = { streamId, bytes };
      return this.#dataBytes(offset);
    }
    if (kind === 'oversized') this.#exceed('frame_bytes');
    else if (isWhole && kind === 'control' && !this.#controls.take()) this.#exceed('control_frames');
    return isWhole && !this.hasInputEnded ? bytes : 0;
  }

  #takesHead({ bytes, isWhole }: Http2Frame): boolean {
    this.needsMore = !isWhole;
    if (bytes > packedHeadMaxBytes) this.#exceed('head_bytes');
    else if (!isWhole) this.#awaitHead();
    else {
      this.#headBytes = 0;
      this.#stopHeadTimer();
      if (this.#turn === 'none') this.#askForTurn();
      if (this.#turn !== 'here') return false;
      this.#turn = 'none';
      this.#isHeadHanded = true;
    }
    return this.#isHeadHanded;
  }

  #awaitHead(): void {
    const addedBytes = this.waiting.length - this.#headBytes;
    if (this.#headBytes === 0) {
      this.#stopHeadTimer = this.#shared.clock.after(this.#shared.times.headMs, () => this.#exceed('head_time'));
    }
    this.#headBytes = this.waiting.length;
    this.#shared.open.addHeadBytes(this, addedBytes);
  }

  #askForTurn(): void {
    this.#turn = 'awaited';
    this.#shared.spreadHeads(() => {
      this.#turn = 'here';
      try {
        this.pass();
      } catch (error) {
        this.destroy(error as Error);
      }
    });
  }

  #begin(stream: ServerHttp2Stream, flags: number, rawHeaders: readonly string[]): void {
    const { open, clock, times, serve } = this.#shared;
    stream.on('error', () => {});
    const refuse = () => stream.close(constants.NGHTTP2_REFUSED_STREAM);
    const opened: OpenStream = { destroy: refuse, isRead: false, unreadBytes: 0 };
    open.add(opened, this.#hasKey);
    if (stream.closed) return;
    open.endHead(opened);
    const { id = 0 } = stream;
    this.#streams.set(id, opened);
    this.#stopIdleTimer();
    const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
    const stopTimer = hasBody ? clock.after(times.requestMs, () => refuseRest(stream)) : noTimer;
    stream.once('close', () => {
      stopTimer();
      this.#streams.delete(id);
      this.#ended(opened, stream.writableFinished && !stream.aborted);
    });
    const keyFound = () => {
      this.#hasKey = true;
      open.markAuthenticated(this);
      open.markAuthenticated(opened);
    };
    // The request is served after all frames that came with it, so that a client that leaves at once is not served.
    queueMicrotask(() => {
      if (!stream.closed) serve({ stream, rawHeaders, keyFound, bodyAsked: () => this.#bodyAsked(opened) });
    });
  }

  #bodyAsked(opened: OpenStream): void {
    opened.isRead = true;
    this.#shared.countWaiting(-opened.unreadBytes);
    opened.unreadBytes = 0;
  }

  #ended(opened: OpenStream, isAnswered: boolean): void {
    this.#bodyAsked(opened);
    this.#shared.open.remove(opened);
    if (this.destroyed) return;
    if (!isAnswered && !this.#leavings.take()) this.#exceed('streams_left');
    if (this.#streams.size === 0) this.#rest();
  }

  /** Starts to wait for a request. */
  #rest(): void {
    const { open, clock, times } = this.#shared;
    open.endHead(this);
    open.markIdle(this);
    open.addHeadBytes(this, restingBytes + this.#headBytes);
    this.#stopIdleTimer();
    this.#stopIdleTimer = clock.after(times.idleMs, () => {
      this.close();
      this.#endSoon();
    });
  }

  /**
   * Ends the connection over a bound. Tells the client the reason, reads nothing more, and leaves the client a moment
   * to receive the reason.
   */
  #exceed(bound: Http2Bound): void {
    if (this.hasInputEnded) return;
    this.dropInput();
    this.#shared.boundReached(bound);
    this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    this.#endSoon();
  }

  #endSoon(): void {
    this.#stopLastTimer();
    if (this.destroyed) return;
    this.#stopLastTimer = this.#shared.clock.after(lastFramesMaxMs, () => this.destroy());
  }
}

const noTimer = () => {};

const sessionOptions = {
  settings: { maxConcurrentStreams: streamsMax, initialWindowSize: windowBytes },
  maxHeaderListPairs: fieldsMax,
  maxSessionInvalidFrames: faultsMax,
  maxSessionRejectedStreams: faultsMax,
};

/** Refuses the rest of a request that takes too long. If the answer has not started, the answer is this error. */
function refuseRest(stream: ServerHttp2Stream): void {
  if (!stream.readableEnded && !stream.destroyed) stream.emit('error', malformedRequest());
}

// Limits how often something may happen: `burst` times at once, and `perSecond` times a second from then on.

interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

interface RateBound {
  /** Returns false if the limit is exceeded. */
  take(): boolean;
}

function createRateBound(clock: Clock, { burst, perSecond }: Rate): RateBound {
  let remaining = burst;
  let countedAtMs = clock.nowMs();
  return {
    take() {
      const nowMs = clock.nowMs();
      remaining = Math.min(burst, remaining + (Math.max(0, nowMs - countedAtMs) / 1_000) * perSecond);
      countedAtMs = nowMs;
      remaining -= 1;
      return remaining >= 0;
    },
  };
}
