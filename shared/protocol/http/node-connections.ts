// Accepts the connections of a server. An HTTP/1.1 connection has one request at a time. Data that a client sends
// before it has read the last answer waits in its connection, then in the network. A connection whose first bytes are
// the preface of HTTP/2 continues with HTTP/2. No number of connections delays the requests of other connections for
// long.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { GatewayError } from '../../errors/index.ts';
import { type Clock, nextTurn, waitAtMost } from '../../foundation/time/index.ts';
import type { SharedByConnections } from './connection-stream.ts';
import { Http2Connection, type SharedByHttp2 } from './http2-connection.ts';
import { NodeConnection } from './node-connection.ts';
import { type ConnectionBounds, createOpenConnections, type OpenConnections } from './open-connections.ts';

/**
 * Bytes of all waiting requests, which are 384 of Node's reads. A connection that would exceed this number is closed.
 */
const waitingDefaultMaxBytes = 24 * 1024 * 1024;
/**
 * Longest time that a slow request may block the queue, which is many times the duration of a request that only reads.
 */
const lineStandsMaxMs = 100;
/**
 * Refusals per turn of the event loop, because thousands of heads may exceed their time at once, and the gateway
 * answers and logs each refusal.
 */
const refusalsPerTurnMax = 100;
/**
 * Maximum number of TLS connections that have not yet sent a valid key, because TLS uses 60 KiB for each connection.
 */
const unauthenticatedInTlsMax = 1_000;
/**
 * Requests of HTTP/2 connections per turn of the event loop, because a connection may bring a hundred requests at once.
 */
const streamsPerTurnMax = 20;

export interface NodeConnections {
  /**
   * Starts one more request of its connection. `serve` is called now, or in its turn, or never if the connection ends
   * before that.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse, serve: () => void): void;
  /** Records that the key of a request exists. */
  markAuthenticated(incoming: IncomingMessage): void;
  /**
   * Refuses a head. Calls `answer` with the beginning of the head, at once or, if there are many refusals in one turn
   * of the event loop, in a later turn. Otherwise it does what `refuse` of one connection does.
   */
  refuse(connection: Duplex, fault: GatewayError, answer: (head: string) => void): void;
  /** Accepts no further requests on HTTP/2 connections; running requests end. */
  closeHttp2(): void;
  /** Ends the HTTP/2 connections. */
  endHttp2(): void;
}

interface NodeConnectionBounds extends ConnectionBounds {
  readonly waitingMaxBytes?: number;
  /** Set for a server of node:https. Called with a connection whose client does not use TLS. */
  readonly plainHttpCame?: ((connection: Duplex) => void) | undefined;
}

/** Makes all further connections of this server connections of this module. Node's own listener accepts any Duplex. */
export function createNodeConnections(
  server: Server | TlsServer,
  http2: Pick<SharedByHttp2, 'clock' | 'times' | 'serve' | 'boundReached'>,
  { waitingMaxBytes = waitingDefaultMaxBytes, plainHttpCame, ...bounds }: NodeConnectionBounds = {},
): NodeConnections {
  const hasTls = plainHttpCame !== undefined;
  const http2Connections = new Set<Http2Connection>();
  const shared: SharedByHttp2 = {
    ...http2,
    ...sharedByConnections(http2.clock, waitingMaxBytes),
    open: createOpenConnections(hasTls ? { unauthenticatedMax: unauthenticatedInTlsMax, ...bounds } : bounds),
    spreadHeads: spreadOverTurns(streamsPerTurnMax),
    continueAsHttp2(socket, bytes) {
      const connection = new Http2Connection(socket, shared);
      http2Connections.add(connection);
      connection.once('close', () => http2Connections.delete(connection));
      connection.continueWith(bytes);
    },
  };
  const spread = spreadOverTurns(refusalsPerTurnMax);
  const event = hasTls ? 'secureConnection' : 'connection';
  const listeners = server.listeners(event);
  const handshakeEnded = hasTls ? countHandshakes(server, shared.open, plainHttpCame) : () => {};
  server.removeAllListeners(event).on(event, (socket: Socket) => {
    handshakeEnded(socket);
    const connection = new NodeConnection(socket, shared);
    for (const listener of listeners) listener.call(server, connection);
    connection.on('data', () => connection.passNext());
  });
  return {
    begin: (incoming, outgoing, serve) => connectionOf(incoming.socket).begin(incoming, outgoing, serve),
    markAuthenticated: ({ socket }) => connectionOf(socket).markAuthenticated(),
    refuse: (connection, fault, answer) =>
      spread(() => {
        const head = connectionOf(connection).refuse(fault);
        if (head !== undefined) answer(head);
      }),
    closeHttp2() {
      for (const connection of http2Connections) connection.close();
    },
    endHttp2() {
      for (const connection of http2Connections) connection.destroySoon();
    },
  };
}

/** Node's code for a client whose first bytes are an unencrypted request. */
const plainHttpCode = 'ERR_SSL_HTTP_REQUEST';

/**
 * Counts connections from their first byte, because they use as much memory before the end of the TLS handshake as
 * after it. The returned function is called at the end of the handshake.
 */
function countHandshakes(
  server: Server | TlsServer,
  open: OpenConnections,
  plainHttpCame: (connection: Duplex) => void,
): (socket: Socket) => void {
  /** Handshakes by the client's address, because nothing else shows to which connection a handshake belonged. */
  const handshakes = new Map<string, Socket>();
  const addressOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  // Node would treat a broken handshake like a broken request.
  server
    .removeAllListeners('tlsClientError')
    .on('tlsClientError', (cause: NodeJS.ErrnoException, socket: TLSSocket) => {
      const accepted = handshakes.get(addressOf(socket));
      if (cause.code === plainHttpCode && accepted?.writable === true) plainHttpCame(accepted);
      else socket.destroy();
    });
  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket);
    handshakes.set(address, socket);
    socket.once('close', () => {
      if (handshakes.get(address) === socket) handshakes.delete(address);
      open.remove(socket);
    });
    open.add(socket);
  });
  return (socket) => {
    const address = addressOf(socket);
    const accepted = handshakes.get(address);
    handshakes.delete(address);
    if (accepted !== undefined) open.remove(accepted);
  };
}

function connectionOf(connection: Duplex): NodeConnection {
  if (connection instanceof NodeConnection) return connection;
  throw new Error('a connection that this server did not accept');
}

/**
 * Runs work at once, up to `perTurnMax` pieces in one turn of the event loop, and the rest in later turns in the same
 * sequence.
 */
function spreadOverTurns(perTurnMax: number): (work: () => void) => void {
  const waiting: (() => void)[] = [];
  /** Number of pieces begun in this turn. */
  let startedCount = 0;
  let isRunning = false;
  const runRest = async () => {
    isRunning = true;
    do {
      await nextTurn();
      const next = waiting.splice(0, perTurnMax);
      startedCount = next.length;
      for (const work of next) work();
    } while (startedCount > 0);
    isRunning = false;
  };
  return (work) => {
    if (startedCount >= perTurnMax || waiting.length > 0) {
      waiting.push(work);
      return;
    }
    startedCount += 1;
    if (!isRunning) void runRest();
    work();
  };
}

function sharedByConnections(
  clock: Clock,
  waitingMaxBytes: number,
): Pick<SharedByConnections, 'queue' | 'countWaiting'> {
  /** Waiting work; the first piece is being served. */
  const inLine: Parameters<SharedByConnections['queue']>[0][] = [];
  let waitingBytes = 0;
  const serveLine = async () => {
    for (let next = inLine[0]; next !== undefined; next = inLine[0]) {
      await nextTurn();
      const wait = next();
      // One piece runs at a time. If all were started, another client's request would wait for the store after each
      // piece.
      if (wait !== undefined) await waitAtMost(clock, lineStandsMaxMs, wait, () => {});
      inLine.shift();
    }
  };
  return {
    queue(next) {
      if (inLine.push(next) === 1) void serveLine();
    },
    countWaiting(addedBytes) {
      waitingBytes += addedBytes;
      return addedBytes < 0 || waitingBytes <= waitingMaxBytes;
    },
  };
}
