// One HTTP/1.1 connection of the server. Node's parser makes a request of each of the 3,000 that fit into the 64 KiB of
// a read, and nothing can stop it before their end. So it gets the bytes of one request at a time: the next one waits
// here until the answer to the last has left, and while one waits nothing more is read from the client.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../../errors/index.ts';
import { type Phase, type PhaseEvent, phaseRules } from './connection-phases.ts';
import { ConnectionStream, type SharedByConnections } from './connection-stream.ts';
import { comparePreface } from './http2-frames.ts';
import { endBody } from './node-refusals.ts';

/** Bytes of a head that are stored for its refusal: most heads are not longer. */
const refusalHeadBytes = 2 * 1024;
const endOfChunks = '0\r\n\r\n';

interface Current {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Bytes of the body that the parser has not received; undefined when the client declared no length. */
  bodyLeftBytes: number | undefined;
}

export class NodeConnection extends ConnectionStream {
  #phase: Phase = 'idle';
  /** True while the client may still turn out to speak HTTP/2, which its first bytes show. */
  #isUnknown = true;
  /** The request that was served last. */
  #current: Current | undefined;
  /** First bytes of the head that the parser has received, until it reports a request. */
  #head = '';
  /** True while it is this connection's turn. */
  #isInTurn = false;

  constructor(socket: Socket, shared: SharedByConnections) {
    super(socket, shared);
    shared.open.opened(this);
  }

  /**
   * Serves a parsed request: at once, or in a turn of its own if the client has sent more already. A request after a
   * body without a declared length comes too early and is not served: the connection ends before it. Such a body may be
   * malformed, which the parser finds in this same turn, so its own request is served after that.
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
    this.shared.open.headEnded(this);
    outgoing.once('close', () => this.#answered());
    const serveUnlessGone = () => {
      if (!outgoing.destroyed) serve();
    };
    if (!this.#isInTurn && this.#hasMoreThan(bodyLeftBytes)) {
      this.#inTurn(serveUnlessGone);
    } else if (hasLength) serve();
    else queueMicrotask(serveUnlessGone);
  }

  /** Records that the key of a request of this connection exists. */
  keyFound(): void {
    this.shared.open.keyFound(this);
  }

  /**
   * Called on a parse error; the parser gets nothing more. Returns the first bytes of a bad head, to be answered. In a
   * body that is being read, its reader gets the error; if an answer has already begun, the connection ends in it.
   */
  refuse(fault: GatewayError): string | undefined {
    this.#seeBodyEnd();
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

  /** Ends the input: waiting requests are not served any more. */
  protected override endInput(): void {
    this.dropInput();
    this.push(null);
  }

  protected override handed(): void {
    this.#seeBodyEnd();
  }

  /**
   * Called over the bound of waiting bytes. Bodies that wait to be read are bounded by the number of running calls
   * instead.
   */
  protected override overflow(): void {
    const { passes, isAnswering } = phaseRules[this.#phase];
    if (isAnswering && passes === 'nothing') this.destroy();
  }

  protected override handableBytes(): number {
    const current = this.#current;
    const { passes } = phaseRules[this.#phase];
    if (passes === 'head') return this.#isUnknown && this.#waitsForPreface() ? 0 : this.#headBytes();
    return passes === 'body' && current !== undefined ? this.#bodyBytes(current) : 0;
  }

  #move(event: PhaseEvent): void {
    this.#phase = phaseRules[this.#phase].next[event];
  }

  /** Notices the end of a body, which the parser marks in the request: the event comes only after the body was read. */
  #seeBodyEnd(): void {
    if (this.#current?.incoming.complete === true) this.#move('bodyEnded');
  }

  #answered(): void {
    this.#seeBodyEnd();
    const wasOver = this.#phase === 'over';
    this.#move('answerLeft');
    this.shared.open.answered(this);
    if (this.#phase === 'over') {
      if (!wasOver) this.destroySoon();
    } else if (this.waiting.length > 0) this.#inTurn(() => this.#handNow());
  }

  /** Returns true if bytes after the current request's body have arrived. */
  #hasMoreThan(bodyBytes: number | undefined): boolean {
    if (bodyBytes !== undefined) return this.waiting.length > bodyBytes;
    const end = this.waiting.indexOf(endOfChunks, 0, 'latin1');
    return end !== -1 && this.waiting.length > end + endOfChunks.length;
  }

  /** Limits a fault of the gateway to this connection: the shared queue continues. */
  #inTurn(work: () => void): void {
    this.shared.inTurn(() => {
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
    this.hand();
    this.#isInTurn = false;
  }

  /** Resolves once the answer to the current request has left; undefined when none is being sent. */
  #untilAnswered(): Promise<void> | undefined {
    const current = this.#current;
    if (current === undefined || !phaseRules[this.#phase].isAnswering) return undefined;
    return new Promise((resolve) => current.outgoing.once('close', resolve));
  }

  /**
   * True while the received beginning of HTTP/2's preface waits for its rest, with which another connection continues.
   */
  #waitsForPreface(): boolean {
    const found = comparePreface(this.waiting);
    if (found === 'part') this.shared.open.headCame(this, this.waiting.length);
    if (found === 'whole') {
      const { socket, bytes } = this.leaveSocket();
      this.shared.continueAsHttp2(socket, bytes);
    }
    this.#isUnknown = found === 'part';
    return found !== 'none';
  }

  #bodyBytes(current: Current): number {
    const { bodyLeftBytes } = current;
    if (bodyLeftBytes === undefined || bodyLeftBytes === 0) {
      return Math.min(this.waiting.length, pieceOfUnknownBytes);
    }
    const length = Math.min(this.waiting.length, bodyLeftBytes);
    current.bodyLeftBytes = bodyLeftBytes - length;
    return length;
  }

  #headBytes(): number {
    if (this.#phase === 'idle') this.waiting = this.waiting.subarray(emptyLinesBytes(this.waiting));
    const { length, isWhole } = headPiece(this.waiting);
    if (length === 0) return 0;
    this.#move('headCame');
    const piece = this.waiting.subarray(0, length);
    const copy = piece.toString('latin1', 0, Math.max(0, refusalHeadBytes - this.#head.length));
    if (copy !== '') this.#head += copy;
    if (!isWhole) this.shared.open.headCame(this, bytesInUse(piece) + copy.length);
    return length;
  }
}

// Finds how many of a connection's bytes belong to the head of one request: the bytes after it may belong to another.

/** Size of pieces if the end is unknown: in a head, or in a body without a declared length. */
const pieceOfUnknownBytes = 1_024;
const endOfHead = '\r\n\r\n';
/** Ends of a head, including empty lines that HTTP does not allow. */
const emptyLines = ['\n\n', '\n\r', '\r\r'];

/** Counts empty lines before a request, which HTTP ignores. */
function emptyLinesBytes(bytes: Buffer): number {
  let length = 0;
  while (isLineEnd(bytes[length])) length += 1;
  return length;
}

/** Finds the bytes up to the end of the head, or a piece of it if the end has not arrived. */
function headPiece(bytes: Buffer): { readonly length: number; readonly isWhole: boolean } {
  const end = bytes.indexOf(endOfHead, 0, 'latin1');
  if (end !== -1) return { length: end + endOfHead.length, isWhole: true };
  // A line end may be the first half of the head's end: both halves are passed on together.
  let length = bytes.length;
  while (isLineEnd(bytes[length - 1])) length -= 1;
  // Node's parser makes a longer copy for every further piece. Without an empty line of any kind no head can end.
  const canEnd = emptyLines.some((line) => bytes.indexOf(line, 0, 'latin1') !== -1);
  return { length: canEnd ? Math.min(length, pieceOfUnknownBytes) : length, isWhole: false };
}

/** Bytes that Node's parser uses for a line of an unfinished head besides its text: two strings and their places. */
const lineOverheadBytes = 112;
const lineFeed = 0x0a;

/** Returns the bytes of memory that a piece of an unfinished head takes. */
function bytesInUse(piece: Buffer): number {
  let bytes = piece.length;
  for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) bytes += lineOverheadBytes;
  return bytes;
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;
