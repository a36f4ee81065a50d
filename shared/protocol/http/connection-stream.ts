// Defines a stream between a client's socket and a parser of Node. The parser gets bytes piece by piece, by the rules
// of its protocol. Bytes that the parser may not have yet wait in this stream. While many wait, nothing more is read
// from the client.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { OpenConnections } from './open-connections.ts';

/** Bytes that are read while other bytes wait, so that a closed connection is noticed. */
const readAheadBytes = 4 * 1024;
/** Bytes that may wait for a client to read them, in addition to one piece, on a server's sockets. */
export const writeAheadBytes = 16 * 1024;

/** The queue and the limits that all connections of a server share. */
export interface SharedByConnections {
  /**
   * Runs `next` after the work of earlier connections, in its own turn of the event loop. The queue then waits for the
   * returned promise, which resolves when the request is answered, or for a bounded time. Neither may fail.
   */
  queue(next: () => Promise<void> | undefined): void;
  readonly open: OpenConnections;
  /** Adds to the count of waiting bytes, or subtracts. Returns false if more bytes wait than allowed. */
  countWaiting(addedBytes: number): boolean;
  /** Continues a connection whose client uses HTTP/2, from its first byte on. */
  continueAsHttp2(socket: Socket, bytes: Buffer): void;
}

export abstract class ConnectionStream extends Duplex {
  /** Sets a time limit; Node calls it for its own limits. */
  readonly setTimeout: Socket['setTimeout'];
  protected readonly shared: SharedByConnections;
  /** Bytes that were read and not parsed yet. */
  protected waiting: Buffer = nothing;
  /** True once the client has ended its side, or its bytes are not read any more. */
  protected hasInputEnded = false;
  /** True while the parser may have the waiting bytes only when more have arrived. */
  protected needsMore = false;
  readonly #socket: Socket;
  readonly #listeners = {
    data: (bytes: Buffer) => this.#receive(bytes),
    end: () => this.endInput(),
    drain: () => this.emit('drain'),
    timeout: () => this.emit('timeout'),
    error: (error: Error) => this.destroy(error),
    close: () => this.destroy(),
  };
  #countedBytes = 0;
  #isPassing = false;
  #isReleased = false;

  static {
    // Node reads both from a connection that it writes to. The socket's values apply, because it gets the writes.
    const socketDescriptor = (name: 'writableCorked' | 'writableLength') => ({
      get(this: ConnectionStream) {
        return this.#socket[name];
      },
    });
    const descriptors = {
      writableCorked: socketDescriptor('writableCorked'),
      writableLength: socketDescriptor('writableLength'),
    };
    Object.defineProperties(ConnectionStream.prototype, descriptors);
  }

  constructor(socket: Socket, shared: SharedByConnections) {
    super({ decodeStrings: false, writableHighWaterMark: writeAheadBytes });
    this.#socket = socket;
    this.setTimeout = socket.setTimeout.bind(socket);
    this.shared = shared;
    // Node removes its own listener from a connection that it has finished.
    this.on('error', () => {});
    for (const [event, listener] of Object.entries(this.#listeners)) socket.on(event, listener);
  }

  /** Returns how many of the waiting bytes the parser gets now, and counts them as passed. */
  protected abstract takePieceBytes(): number;

  /** Called after the parser has got a piece. */
  protected abstract onPassed(): void;

  /** Called when the client ends its side, for example by closing the connection. */
  protected abstract endInput(): void;

  /** Called when more bytes wait in all connections together than allowed. */
  protected abstract overflow(): void;

  /** Closes the connection after pending writes, like a socket. */
  destroySoon(): void {
    if (!this.writableEnded) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** Passes the next piece. Called when Node's parser has taken a piece. */
  passNext(): void {
    this.pass();
  }

  /** Does nothing, because pieces arrive as the client sends them, at the parser's pace. */
  override _read(): void {}

  // Passes Node's writes to the socket directly, because a second buffer would double the cost of each chunk of a
  // stream.
  override write(chunk: string | Buffer, ...rest: unknown[]): boolean {
    return this.#socket.write(chunk, ...(rest as []));
  }

  /** Writes the chunk passed to `end`. */
  override _write(chunk: string | Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, callback);
  }

  override cork(): void {
    this.#socket.cork();
  }

  override uncork(): void {
    this.#socket.uncork();
  }

  override _final(callback: () => void): void {
    this.#socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.dropInput();
    this.shared.open.remove(this);
    if (!this.#isReleased) this.#socket.destroy();
    callback(error);
  }

  /** Ends this stream and returns its socket, with all bytes from the client, for another stream. */
  protected leaveSocket(): { readonly socket: Socket; readonly bytes: Buffer } {
    const bytes = this.waiting;
    this.#isReleased = true;
    for (const [event, listener] of Object.entries(this.#listeners)) this.#socket.off(event, listener);
    this.destroy();
    return { socket: this.#socket, bytes };
  }

  /** Reads nothing more. */
  protected dropInput(): void {
    this.hasInputEnded = true;
    this.waiting = nothing;
    this.#count();
  }

  /** Passes waiting bytes to the parser, piece by piece, as the protocol's rules allow. */
  protected pass(): void {
    if (this.#isPassing) return;
    this.#isPassing = true;
    while (this.waiting.length > 0 && this.readableLength === 0 && !this.hasInputEnded) {
      const piece = this.#nextPiece();
      if (piece === undefined) break;
      this.push(piece);
      this.onPassed();
    }
    this.#isPassing = false;
    if (this.destroyed) return;
    const isBlocked = !this.needsMore || this.readableLength > 0;
    if (isBlocked && this.waiting.length > readAheadBytes) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
    if (!this.#count()) this.overflow();
  }

  protected receive(bytes: Buffer): void {
    this.#receive(bytes);
  }

  #receive(bytes: Buffer): void {
    if (this.hasInputEnded) return;
    this.waiting = this.waiting.length === 0 ? bytes : Buffer.concat([this.waiting, bytes]);
    this.pass();
  }

  /**
   * Takes the next piece of the waiting bytes. An empty view of the waiting bytes would keep the whole read in memory.
   */
  #nextPiece(): Buffer | undefined {
    const length = this.takePieceBytes();
    const piece = this.waiting.subarray(0, length);
    this.waiting = length === this.waiting.length ? nothing : this.waiting.subarray(length);
    // The count may have ended this connection.
    return piece.length === 0 || this.destroyed ? undefined : piece;
  }

  /** Counts bytes with the whole read that they are a part of, because they keep it in memory. */
  #count(): boolean {
    const bytes = this.waiting.length === 0 ? 0 : this.waiting.buffer.byteLength;
    const addedBytes = bytes - this.#countedBytes;
    this.#countedBytes = bytes;
    return addedBytes === 0 || this.shared.countWaiting(addedBytes);
  }
}

const nothing: Buffer = Buffer.alloc(0);
