// Serves one HTTP/1.1 connection. A read of 64 KiB can contain 3,000 pipelined requests, and Node's parser reports all
// of them without a pause between them. So the parser gets the bytes of one request at a time. The next request waits
// in this class until the previous answer is sent, and nothing more is read from the client meanwhile.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../../errors/index.ts';
import { type Phase, type PhaseEvent, phaseRules } from './connection-phases.ts';
import { ConnectionStream, type SharedByConnections } from './connection-stream.ts';
import { comparePreface } from './http2-frames.ts';
import { endBody } from './node-refusals.ts';

/** Maximum number of bytes of a request head that are kept for an error answer. Most heads are shorter. */
const refusalHeadBytes = 2 * 1024;
const endOfChunks = '0\r\n\r\n';

interface Current {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Bytes of the body that the parser has not received; undefined when the client declared no length. */
  bodyRemainingBytes: number | undefined;
}

export class NodeConnection extends ConnectionStream {
  #phase: Phase = 'idle';
  /** True until the first bytes show whether the client uses HTTP/2. */
  #isProtocolUnknown = true;
  /** The current request, or the last request if none is current. */
  #current: Current | undefined;
  /** First bytes of the head that the parser has received, until it reports a request. */
  #head = '';
  /** True while this connection, in its turn in the shared queue, passes waiting bytes to the parser. */
  #isServingQueue = false;

  constructor(socket: Socket, shared: SharedByConnections) {
    super(socket, shared);
    shared.open.add(this);
  }

  /**
   * Serves a request that the parser has reported. If the client has already sent bytes of a further request, this one
   * is served through the shared queue. A request that the parser reports while an answer is due is not served, and the
   * connection ends after that answer. This happens after a body without a declared length, whose end this class does
   * not know. The parser may still find, in this turn of the event loop, that such a body is malformed, so its request
   * is served in a microtask.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse, serve: () => void): void {
    this.#updateBodyEnd();
    const isFree = !phaseRules[this.#phase].isAnswering;
    this.#move('requestBegan');
    if (!isFree || this.#phase === 'over') return;
    const { headers } = incoming;
    const hasLength = headers['transfer-encoding'] === undefined;
    const bodyRemainingBytes = hasLength ? Number(headers['content-length'] ?? 0) : undefined;
    this.#current = { incoming, outgoing, bodyRemainingBytes };
    this.#head = '';
    this.shared.open.endHead(this);
    outgoing.once('close', () => this.#endAnswer());
    const serveUnlessGone = () => {
      if (!outgoing.destroyed) serve();
    };
    if (!this.#isServingQueue && this.#hasBytesAfterBody(bodyRemainingBytes)) {
      this.#queue(serveUnlessGone);
    } else if (hasLength) serve();
    else queueMicrotask(serveUnlessGone);
  }

  /** Records that a request of this connection had a valid key. */
  markAuthenticated(): void {
    this.shared.open.markAuthenticated(this);
  }

  /**
   * Called on a parse error, after which the parser gets nothing more. For a malformed head, returns its first bytes,
   * and the caller sends the error. For a malformed body, the request's own answer is the error; if that answer has
   * already started, the connection is destroyed.
   */
  refuse(fault: GatewayError): string | undefined {
    this.#updateBodyEnd();
    const { onFault } = phaseRules[this.#phase];
    if (onFault === 'ignore') return undefined;
    const [current, head] = [this.#current, this.#head];
    this.dropInput();
    this.#move('faultFound');
    if (this.writable && onFault === 'answerHead' && head !== '') return head;
    if (this.writable && onFault === 'refuseBody' && current?.outgoing.headersSent === false) endBody(current, fault);
    else this.destroy();
    return undefined;
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#phase = 'over';
    super._destroy(error, callback);
  }

  protected override dropInput(): void {
    this.#head = '';
    super.dropInput();
  }

  /** Ends the input. Waiting requests are not served after that. */
  protected override endInput(): void {
    this.dropInput();
    this.push(null);
  }

  protected override onPassed(): void {
    this.#updateBodyEnd();
  }

  /**
   * Called when more bytes wait than allowed. The bytes of bodies are not limited here, because the number of running
   * calls limits them.
   */
  protected override overflow(): void {
    const { passes, isAnswering } = phaseRules[this.#phase];
    if (isAnswering && passes === 'nothing') this.destroy();
  }

  protected override takePieceBytes(): number {
    const current = this.#current;
    const { passes } = phaseRules[this.#phase];
    if (passes === 'head') return this.#isProtocolUnknown && this.#takePreface() ? 0 : this.#takeHeadBytes();
    return passes === 'body' && current !== undefined ? this.#takeBodyBytes(current) : 0;
  }

  #move(event: PhaseEvent): void {
    this.#phase = phaseRules[this.#phase].next[event];
  }

  /** Moves on if the parser has marked the body as complete. Its `end` event comes only after the body was read. */
  #updateBodyEnd(): void {
    if (this.#current?.incoming.complete === true) this.#move('bodyEnded');
  }

  #endAnswer(): void {
    this.#updateBodyEnd();
    const wasOver = this.#phase === 'over';
    this.#move('answerSent');
    this.shared.open.markIdle(this);
    if (this.#phase === 'over') {
      if (!wasOver) this.destroySoon();
    } else if (this.waiting.length > 0) this.#queue(() => this.#passQueued());
  }

  /** Returns true if bytes have arrived after the body of the current request. */
  #hasBytesAfterBody(bodyBytes: number | undefined): boolean {
    if (bodyBytes !== undefined) return this.waiting.length > bodyBytes;
    const end = this.waiting.indexOf(endOfChunks, 0, 'latin1');
    return end !== -1 && this.waiting.length > end + endOfChunks.length;
  }

  /** Runs the work in the shared queue. An exception in the work destroys only this connection. */
  #queue(work: () => void): void {
    this.shared.queue(() => {
      try {
        work();
      } catch (error) {
        this.destroy(error as Error);
      }
      return this.#untilAnswered();
    });
  }

  #passQueued(): void {
    this.#isServingQueue = true;
    this.pass();
    this.#isServingQueue = false;
  }

  /** Resolves once the answer to the current request is sent; undefined if no answer is due. */
  #untilAnswered(): Promise<void> | undefined {
    const current = this.#current;
    if (current === undefined || !phaseRules[this.#phase].isAnswering) return undefined;
    return new Promise((resolve) => current.outgoing.once('close', resolve));
  }

  /**
   * Returns true if the waiting bytes are the preface of HTTP/2, or its beginning. With the whole preface, an HTTP/2
   * connection takes over the socket.
   */
  #takePreface(): boolean {
    const found = comparePreface(this.waiting);
    if (found === 'part') this.shared.open.addHeadBytes(this, this.waiting.length);
    if (found === 'whole') {
      const { socket, bytes } = this.leaveSocket();
      this.shared.continueAsHttp2(socket, bytes);
    }
    this.#isProtocolUnknown = found === 'part';
    return found !== 'none';
  }

  #takeBodyBytes(current: Current): number {
    const { bodyRemainingBytes } = current;
    if (bodyRemainingBytes === undefined || bodyRemainingBytes === 0) {
      return Math.min(this.waiting.length, pieceMaxBytes);
    }
    const length = Math.min(this.waiting.length, bodyRemainingBytes);
    current.bodyRemainingBytes = bodyRemainingBytes - length;
    return length;
  }

  #takeHeadBytes(): number {
    if (this.#phase === 'idle') this.waiting = this.waiting.subarray(emptyLinesBytes(this.waiting));
    const { length, isWhole } = headPiece(this.waiting);
    if (length === 0) return 0;
    this.#move('headReceived');
    const piece = this.waiting.subarray(0, length);
    const copy = piece.toString('latin1', 0, Math.max(0, refusalHeadBytes - this.#head.length));
    if (copy !== '') this.#head += copy;
    if (!isWhole) this.shared.open.addHeadBytes(this, bytesInUse(piece) + copy.length);
    return length;
  }
}

// Finds how many of a connection's bytes belong to the head of one request, because the bytes after the head may belong
// to the next request.

/** Maximum size of a piece of a head, or of a body without a declared length, while its end is unknown. */
const pieceMaxBytes = 1_024;
const endOfHead = '\r\n\r\n';
/** Lists the bytes with which Node's lenient parser may end a head, in addition to `endOfHead`. */
const emptyLines = ['\n\n', '\n\r', '\r\r'];

/** Returns the number of bytes of the empty lines before a request, which HTTP ignores. */
function emptyLinesBytes(bytes: Buffer): number {
  let length = 0;
  while (isLineEnd(bytes[length])) length += 1;
  return length;
}

/** Returns the length of the head up to its end, or of a piece of the head if the end has not arrived. */
function headPiece(bytes: Buffer): { readonly length: number; readonly isWhole: boolean } {
  const end = bytes.indexOf(endOfHead, 0, 'latin1');
  if (end !== -1) return { length: end + endOfHead.length, isWhole: true };
  // A line end may be the first half of the head's end, and both halves are passed together.
  let length = bytes.length;
  while (isLineEnd(bytes[length - 1])) length -= 1;
  // Each further piece costs a longer copy in Node's parser, so a piece is small only if the head may end in it.
  const canEnd = emptyLines.some((line) => bytes.indexOf(line, 0, 'latin1') !== -1);
  return { length: canEnd ? Math.min(length, pieceMaxBytes) : length, isWhole: false };
}

/**
 * Memory of Node's parser for a line of an unfinished head, in addition to the line's text, which is two strings in a
 * list.
 */
const lineOverheadBytes = 112;
const lineFeed = 0x0a;

/** Returns the bytes of memory that a piece of an unfinished head takes. */
function bytesInUse(piece: Buffer): number {
  let bytes = piece.length;
  for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) bytes += lineOverheadBytes;
  return bytes;
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;
