// The requests of each connection that have no whole answer yet. HTTP/1.1 lets a client send the next request before it
// has the answer to the last, and all answers share one socket in the order of their requests.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { fail } from '../../errors/index.ts';
import { errorAnswer, writeRawAnswer } from './error-answers.ts';

/** A browser or an SDK sends one at a time, a client that pipelines a few. */
export const unansweredRequestsMax = 16;

export interface NodeConnections {
  /** `serve`: one more request of its connection. `refuse`: one too many. `ignore`: its connection ends with a refusal. */
  add(incoming: IncomingMessage, outgoing: ServerResponse): 'serve' | 'refuse' | 'ignore';
  /** What the HTTP parser refuses: a broken request line, too many header bytes, a request that takes too long. */
  refuseMalformed(socket: Duplex, correlationId: string): void;
}

interface Connection {
  readonly unanswered: Set<{ readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }>;
  hasRefused: boolean;
}

export function createNodeConnections(): NodeConnections {
  const connections = new WeakMap<Duplex, Connection>();

  return {
    add(incoming, outgoing) {
      const { socket } = incoming;
      const connection = connections.get(socket) ?? { unanswered: new Set(), hasRefused: false };
      connections.set(socket, connection);
      const { unanswered, hasRefused } = connection;
      const request = { incoming, outgoing };
      unanswered.add(request);
      outgoing.once('close', () => unanswered.delete(request));
      if (!hasRefused && unanswered.size <= unansweredRequestsMax) return 'serve';
      connection.hasRefused = true;
      // What has arrived is parsed to its end; nothing more is read from this client.
      socket.pause();
      return hasRefused ? 'ignore' : 'refuse';
    },
    refuseMalformed(socket, correlationId) {
      const [current, ...others] = connections.get(socket)?.unanswered ?? [];
      // The answer to a body that is malformed itself. Anything else would stand in the place, or in the middle, of the
      // answer to an earlier request.
      const isAlone =
        others.length === 0 && (current === undefined || !(current.incoming.complete || current.outgoing.headersSent));
      if (!socket.writable || !isAlone) return void socket.destroy();
      const message = 'The HTTP request is malformed, too large or too slow.';
      writeRawAnswer(socket, errorAnswer(fail('invalid_request', { message }), correlationId));
    },
  };
}
