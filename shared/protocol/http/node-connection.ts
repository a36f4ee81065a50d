// One connection of the node:http server. Node's parser makes a request of each of the 3,000 that fit into the 64 KiB of
// a read, and nothing stops it on the way. So it gets the bytes of one request at a time: the next one waits here until
// the answer to the last has left, and while one waits nothing more is read from the client.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { GatewayError } from '../../errors/index.ts';
import { type Phase, type PhaseEvent, phaseRules } from './connection-phases.ts';
import { bytesInUse, emptyLinesBytes, headPiece, pieceOfUnknownBytes } from './head-piece.ts';
import { endBody } from './node-refusals.ts';
import type { OpenConnections } from './open-connections.ts';

/** Bytes that are read while a request is being answered, so that a hang-up is noticed. */
const readAheadBytes = 4 * 1024;
/** Bytes that may wait for a client to read them, and one piece more, for the sockets of a server. */
export const writeAheadBytes = 16 * 1024;
/** Bytes of a head that are kept for its refusal: the whole of most heads. */
const refusalHeadBytes = 2 * 1024;
const endOfChunks = '0\r\n\r\n';

/** State that the connections of a server share. */
export interface SharedByConnections {
  /**
   * Runs `next` when earlier connections had their turn, in a turn of the event loop of its own. The queue waits until
   * the request that it began is answered (the returned promise), or for a bounded time. Neither may fail.
   */
  inTurn(next: () => Promise<void> | undefined): void;
  readonly open: OpenConnections;
  /** Counts bytes that wait to be parsed, or do so no longer. False: they are more than may wait. */
  countWaiting(addedBytes: number): boolean;
}

interface Current {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Bytes of the body that the parser has not received; undefined when the client declared no length. */
  bodyLeftBytes: number | undefined;
}

export class NodeConnection extends Duplex {
  /** Used by Node's own time limits. */
  readonly setTimeout: Socket['setTimeout'];
  readonly #socket: Socket;
  readonly #shared: SharedByConnections;
  /** Read, and not parsed yet. */
  #waiting: Buffer = nothing;
  #countedBytes = 0;
  #phase: Phase = 'idle';
  /** The request that was served last. */
  #current: Current | undefined;
  /** First bytes of the head that the parser has received, until it reports a request. */
  #head = '';
  #isHanding = false;
  /** The client has ended its side, or what it sends is not read any more. */
  #hasInputEnded = false;
  /** Whether this connection has the turn. */
  #isInTurn = false;

  static {
    // Node asks a connection that it writes to for both. They are those of the socket, to which it writes.
    const ofSocket = (name: 'writableCorked' | 'writableLength') => ({
      get(this: NodeConnection) {
        return this.#socket[name];
      },
    });
    const descriptors = { writableCorked: ofSocket('writableCorked'), writableLength: ofSocket('writableLength') };
    Object.defineProperties(NodeConnection.prototype, descriptors);
  }

  constructor(socket: Socket, shared: SharedByConnections) {
    super({ decodeStrings: false, writableHighWaterMark: writeAheadBytes });
    this.#socket = socket;
    this.setTimeout = socket.setTimeout.bind(socket);
    this.#shared = shared;
    // Node takes its own listener away from a connection that it is done with.
    this.on('error', () => {});
    socket
      .on('data', (bytes) => this.#receive(bytes))
      .on('end', () => this.#endReading())
      .on('drain', () => this.emit('drain'))
      .on('timeout', () => this.emit('timeout'))
      .on('error', (error) => this.destroy(error))
      .on('close', () => this.destroy());
    shared.open.opened(this);
  }

  /**
   * Serves a parsed request: at once, or in a turn of its own where the client has sent more already. A request after a
   * body without a length comes too early and is not served: the connection ends before it. A body without a length may
   * be malformed, which the parser finds in this same turn, so such a request is served after it.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse, serve: () => void): void {
    this.#seeBodyEnd();
    const isFree = !phaseRules[this.#phase].isAnswering;
    this.#move('requestBegan');
    if (!isFree || this.#phase === 'over') return;
    const { headers } = incoming;
    const hasLength = headers['transfer-encoding'] === undefined;
    const bodyLeftBytes = hasLength ? Number(headers['content-length'] ?? 0) : undefined;
    this.#current = { incoming, outgoing, bodyLeftBytes };
    this.#head = '';
    this.#shared.open.headEnded(this);
    outgoing.once('close', () => this.#answered());
    const serveUnlessGone = () => {
      if (!outgoing.destroyed) serve();
    };
    if (!this.#isInTurn && this.#hasMoreThan(bodyLeftBytes)) {
      this.#inTurn(serveUnlessGone);
    } else if (hasLength) serve();
    else queueMicrotask(serveUnlessGone);
  }

  /** The key of a request of this connection exists. */
  keyFound(): void {
    this.#shared.open.keyFound(this);
  }

  /**
   * Called on a parse error; the parser gets nothing more. Returns the first bytes of a bad head, to be answered. In a
   * body that is being read, its reader gets the error; where an answer was already begun, the connection ends in it.
   */
  refuse(fault: GatewayError): string | undefined {
    this.#seeBodyEnd();
    const { onFault } = phaseRules[this.#phase];
    if (onFault === 'ignore') return undefined;
    const [current, head] = [this.#current, this.#head];
    this.#drop();
    this.#move('faultFound');
    if (this.writable && onFault === 'answerHead' && head !== '') return head;
    if (this.writable && onFault === 'refuseBody' && current?.outgoing.headersSent === false) endBody(current, fault);
    else this.destroy();
    return undefined;
  }

  /** Closes the connection after pending writes, like a socket. */
  destroySoon(): void {
    if (!this.writableEnded) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** To be called behind Node's parser for each piece that it got. */
  handNext(): void {
    this.#hand();
  }

  /** Does nothing: pieces arrive as the client sends them, at the parser's pace. */
  override _read(): void {}

  // Passes Node's writes to the socket directly: a second buffer here would double the cost of each chunk of a stream.
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
    this.#phase = 'over';
    this.#drop();
    this.#shared.open.closed(this);
    this.#socket.destroy();
    callback(error);
  }

  #move(event: PhaseEvent): void {
    this.#phase = phaseRules[this.#phase].next[event];
  }

  /** The parser marks the end of a body in the request, whose event comes only after it was read. */
  #seeBodyEnd(): void {
    if (this.#current?.incoming.complete === true) this.#move('bodyEnded');
  }

  #answered(): void {
    this.#seeBodyEnd();
    const wasOver = this.#phase === 'over';
    this.#move('answerLeft');
    this.#shared.open.answered(this);
    if (this.#phase === 'over') {
      if (!wasOver) this.destroySoon();
    } else if (this.#waiting.length > 0) this.#inTurn(() => this.#handNow());
  }

  /** Behind the body of the current request. */
  #hasMoreThan(bodyBytes: number | undefined): boolean {
    if (bodyBytes !== undefined) return this.#waiting.length > bodyBytes;
    const end = this.#waiting.indexOf(endOfChunks, 0, 'latin1');
    return end !== -1 && this.#waiting.length > end + endOfChunks.length;
  }

  #receive(bytes: Buffer): void {
    if (this.#hasInputEnded) return;
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    this.#hand();
  }

  /** The client has ended its side, as one does that hangs up: requests that wait are not served any more. */
  #endReading(): void {
    this.#drop();
    this.push(null);
  }

  #drop(): void {
    this.#hasInputEnded = true;
    this.#head = '';
    this.#waiting = nothing;
    this.#count();
  }

  /** Limits a fault of the gateway to this connection: the queue, which others wait in, goes on. */
  #inTurn(work: () => void): void {
    this.#shared.inTurn(() => {
      try {
        work();
      } catch (error) {
        this.destroy(error as Error);
      }
      return this.#untilAnswered();
    });
  }

  #handNow(): void {
    this.#isInTurn = true;
    this.#hand();
    this.#isInTurn = false;
  }

  /** Resolves once the answer to the current request has left; undefined when none is on its way. */
  #untilAnswered(): Promise<void> | undefined {
    const current = this.#current;
    if (current === undefined || !phaseRules[this.#phase].isAnswering) return undefined;
    return new Promise((resolve) => current.outgoing.once('close', resolve));
  }

  /** Passes bytes of the current request, or the next one, to the parser: a piece once it has taken the last. */
  #hand(): void {
    if (this.#isHanding) return;
    this.#isHanding = true;
    while (this.#waiting.length > 0 && this.readableLength === 0 && !this.#hasInputEnded) {
      const piece = this.#nextPiece();
      if (piece === undefined) break;
      this.push(piece);
      this.#seeBodyEnd();
    }
    this.#isHanding = false;
    if (this.#waiting.length > readAheadBytes) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
    const fits = this.#count();
    // Bodies that wait to be read are bounded by the number of running calls.
    const { passes, isAnswering } = phaseRules[this.#phase];
    if (!fits && isAnswering && passes === 'nothing') this.destroy();
  }

  /** Takes from the bytes that wait. An empty view of them would keep the whole read in memory. */
  #nextPiece(): Buffer | undefined {
    const length = this.#handableBytes();
    const piece = this.#waiting.subarray(0, length);
    this.#waiting = length === this.#waiting.length ? nothing : this.#waiting.subarray(length);
    // To count a head may have closed this connection.
    return length === 0 || this.#phase === 'over' ? undefined : piece;
  }

  #handableBytes(): number {
    const current = this.#current;
    const { passes } = phaseRules[this.#phase];
    if (passes === 'head') return this.#headBytes();
    return passes === 'body' && current !== undefined ? this.#bodyBytes(current) : 0;
  }

  #bodyBytes(current: Current): number {
    const { bodyLeftBytes } = current;
    if (bodyLeftBytes === undefined || bodyLeftBytes === 0) {
      return Math.min(this.#waiting.length, pieceOfUnknownBytes);
    }
    const length = Math.min(this.#waiting.length, bodyLeftBytes);
    current.bodyLeftBytes = bodyLeftBytes - length;
    return length;
  }

  #headBytes(): number {
    if (this.#phase === 'idle') this.#waiting = this.#waiting.subarray(emptyLinesBytes(this.#waiting));
    const { length, isWhole } = headPiece(this.#waiting);
    if (length === 0) return 0;
    this.#move('headCame');
    const piece = this.#waiting.subarray(0, length);
    const copy = piece.toString('latin1', 0, Math.max(0, refusalHeadBytes - this.#head.length));
    if (copy !== '') this.#head += copy;
    if (!isWhole) this.#shared.open.headCame(this, bytesInUse(piece) + copy.length);
    return length;
  }

  /** Counts bytes with the whole read that they are a part of, which they keep in memory. */
  #count(): boolean {
    const bytes = this.#waiting.length === 0 ? 0 : this.#waiting.buffer.byteLength;
    const addedBytes = bytes - this.#countedBytes;
    this.#countedBytes = bytes;
    return addedBytes === 0 || this.#shared.countWaiting(addedBytes);
  }
}

const nothing: Buffer = Buffer.alloc(0);
