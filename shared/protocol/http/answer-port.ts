// Defines the destination of a request's answer, by the protocol of its connection.
import { type IncomingMessage, type ServerResponse, validateHeaderValue } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Writable } from 'node:stream';
import type { Clock } from '../../foundation/time/index.ts';
import { encodingOf } from './delivery.ts';
import type { GatewayResponse } from './exchange.ts';
import { discardRest, hasLongRest } from './node-body.ts';

type Head = Pick<GatewayResponse, 'status' | 'headers' | 'body'>;

export interface AnswerPort {
  /** Receives the bytes of the answer. */
  readonly stream: Writable;
  /** Calls `listener` if the client leaves before the end of its answer. */
  onGone(listener: () => void): void;
  /** Sends status and headers. Throws, and sends nothing, if a header cannot be written. */
  begin(head: Head): void;
  /** Sends the written bytes, which are the whole answer except for its end. */
  flush(): void;
  /** Breaks the answer off, so that its client notices. */
  cut(): void;
  /** Called after a complete answer. Receives the rest of the request, or tells the client not to send the rest. */
  endRequest(): Promise<void> | undefined;
}

interface Http1Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Returns true if the connection ends with this answer, because the server is closing, or the body was abandoned. */
  readonly endsConnection: () => boolean;
}

export function http1Answer({ incoming, outgoing, endsConnection }: Http1Exchange, clock: Clock): AnswerPort {
  let isRestLong = false;
  return {
    stream: outgoing,
    onGone(listener) {
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) listener();
      });
    },
    begin(head) {
      isRestLong ||= hasLongRest(incoming);
      const headers = headersOf(head);
      if (isRestLong || endsConnection()) headers.connection = 'close';
      outgoing.writeHead(head.status, headers);
      if (typeof head.body !== 'string') flushSoon(outgoing);
    },
    // Node delays a text until the end of the answer, and writes both as a list of pieces, which makes a call 5 %
    // slower.
    flush: () => outgoing.socket?.uncork(),
    cut: () => outgoing.destroy(),
    endRequest: () => (isRestLong ? discardRest(incoming, clock) : undefined),
  };
}

/**
 * Sends a stream's headers without waiting for a chunk, which may take long; a chunk that is ready is sent with them.
 */
function flushSoon(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  socket?.cork();
  outgoing.flushHeaders();
  process.nextTick(() => socket?.uncork());
}

export function http2Answer(stream: ServerHttp2Stream): AnswerPort {
  return {
    stream,
    onGone(listener) {
      // A reset without an error lets Node end the answer.
      const listenOnce = () => {
        stream.off('aborted', listenOnce);
        if (stream.aborted || !stream.writableFinished) listener();
      };
      stream.once('aborted', listenOnce).once('close', listenOnce);
    },
    begin(head) {
      const headers = headersOf(head);
      for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
      if (!stream.destroyed && !stream.closed) stream.respond({ ':status': head.status, ...headers });
    },
    flush() {},
    cut() {
      // Without an error the answer would look complete.
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      stream.destroy();
    },
    endRequest() {
      // Node itself does so for a request of which nothing was read.
      if (stream.readableEnded || stream.readableFlowing === null) return undefined;
      stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
      return undefined;
    },
  };
}

function headersOf({ headers, body }: Head): Record<string, string> {
  const all = { ...headers };
  if (typeof body === 'string') all['content-length'] = String(Buffer.byteLength(body, encodingOf({ headers })));
  return all;
}
