// Serves the gateway through node:http, in a local run and in a container. Unlike Lambda, this server notices when a
// client hangs up. Nothing that a client sends ends the server.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { headersMaxBytes } from '../../foundation/constants/index.ts';
import { type Clock, nextTurn, waitAtMost } from '../../foundation/time/index.ts';
import { http1Answer } from './answer-port.ts';
import { writeAheadBytes } from './connection-stream.ts';
import { type AdapterDependencies, type Gateway, type GatewayRequest, queryOf } from './exchange.ts';
import { http2Exchange } from './http2-exchange.ts';
import { declaredBytes, incomingBody } from './node-body.ts';
import { createNodeConnections, type NodeConnections } from './node-connections.ts';
import { type NodeExchange, runExchange } from './node-exchange.ts';
import { isLoopback, malformedRequest, onlyForLoopback, pathOf, refuseHead, refusePlainHttp } from './node-refusals.ts';

/** Time limit for a whole request. For 4 MB a client needs 1.1 Mbit/s. */
const requestTimeoutMs = 30_000;
const headersTimeoutMs = 10_000;
/** Interval at which Node checks the time limits of requests. */
const timeoutCheckMs = 2_000;
/**
 * Time for which an idle connection stays open. Load balancers and SDKs commonly keep a connection for a shorter time
 * (60 s), so that they close first.
 */
const keepAliveDefaultMs = 65_000;
/** Maximum number of connections that wait until the process accepts them, because 1,000 may arrive at once. */
const listenBacklogMax = 4_096;
/**
 * Turns of the event loop before closing. A waiting connection is accepted in the second turn, and its request is read
 * in the third turn.
 */
const turnsBeforeClosing = 3;

/**
 * Times for running requests when the server closes: first to end by themselves, then, once cut off, to answer, and
 * finally to settle.
 */
interface ClosingTimes {
  readonly endMaxMs: number;
  readonly answerMaxMs: number;
  readonly settleMaxMs: number;
}

/**
 * Default times. Together with the other steps of a stop they are shorter than the ten seconds after which containers
 * are usually killed.
 */
const closingDefault: ClosingTimes = { endMaxMs: 5_000, answerMaxMs: 1_000, settleMaxMs: 1_000 };

export interface NodeServer {
  /** Resolves with the port once the server listens. Rejects if the port is not available (`code: EADDRINUSE`). */
  listen(port: number, host: string): Promise<number>;
  /**
   * Accepts nothing new, gives running requests their time to end, and then cuts them off. Requests that are cut off
   * answer, settle, and are abandoned.
   */
  close(): Promise<void>;
  /** Returns the number of requests whose answer, or the work after it, has not ended. */
  inFlight(): number;
}

interface NodeServerOptions {
  /**
   * True if a proxy passes the public name on. Otherwise a listener on a loopback address accepts only loopback names.
   */
  readonly anyHost?: boolean;
  /** A certificate and its key, in PEM format. With a certificate the server uses TLS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Times for closing; seven seconds in all by default. */
  readonly closing?: ClosingTimes;
  /** Time for which an idle connection stays open. */
  readonly keepAliveTimeoutMs?: number;
}

export function createNodeServer(
  gateway: Gateway,
  dependencies: AdapterDependencies,
  { anyHost = false, tls, closing = closingDefault, keepAliveTimeoutMs = keepAliveDefaultMs }: NodeServerOptions = {},
): NodeServer {
  const { clock, log } = dependencies;
  const running = new Set<Promise<void>>();
  let closed: Promise<void> | undefined;
  let handle = gateway;
  const isClosing = () => closed !== undefined;
  const cutting = new AbortController();
  const scheme = tls === undefined ? 'http' : 'https';

  const run = (exchange: Promise<void>) => {
    running.add(exchange);
    void exchange.then(() => running.delete(exchange));
  };
  const exchange = (one: NodeExchange) => run(runExchange(handle, one, dependencies));
  const serve = (expectsContinue: boolean) => (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // Both streams can fail while they wait for their turn. Without a listener a failure would end the process.
    outgoing.on('error', () => {});
    const head = headOf(incoming, scheme);
    const beforeReading = () => expectsContinue && outgoing.writeContinue();
    const body = incomingBody(incoming, head.declaredBodyBytes, beforeReading);
    connections.begin(incoming, outgoing, () => {
      const keyFound = () => connections.markAuthenticated(incoming);
      const answer = http1Answer({ incoming, outgoing, endsConnection: () => isClosing() || body.isGivenUp() }, clock);
      exchange({ head, body, answer, keyFound, cut: cutting.signal });
    });
  };

  const options = { ...serverOptions, keepAliveTimeout: keepAliveTimeoutMs };
  const server = tls ? createTlsServer({ ...options, ...tlsOptions, ...tls }) : createServer(options);
  server.on('request', serve(false));
  const connections = createNodeConnections(
    server,
    {
      clock,
      times: { headMs: headersTimeoutMs, requestMs: requestTimeoutMs, idleMs: keepAliveTimeoutMs },
      serve: (request) => exchange(http2Exchange(request, scheme, cutting.signal)),
      boundReached: (bound) => log.info({ event: 'connection_closed', reason: bound }),
    },
    {
      onClose: (bytes) => dependencies.memory?.released(bytes),
      plainHttpCame: tls && ((connection) => refusePlainHttp(connection, dependencies)),
    },
  );
  // Node would answer the next three events by itself, in another format or too early.
  server.on('checkContinue', serve(true));
  server.on('checkExpectation', serve(false));
  server.on('clientError', (_cause, connection) => {
    connections.refuse(connection, malformedRequest(), (head) =>
      run(refuseHead(handle, { head, connection }, dependencies)),
    );
  });

  const close = () => closeServer({ server, connections, running, cutting }, closing, clock);
  return {
    listen: async (port, host) => {
      if (!anyHost && isLoopback(host)) handle = onlyForLoopback(gateway);
      const openPort = await listen(server, port, host);
      // Later errors are failed accepts (such as too many open files), after which the server continues.
      server.on('error', (cause) => log.error({ event: 'server_failed' }, cause));
      return openPort;
    },
    close: () => {
      closed ??= close();
      return closed;
    },
    inFlight: () => running.size,
  };
}

interface OpenServer {
  readonly server: Server | TlsServer;
  readonly connections: NodeConnections;
  readonly running: ReadonlySet<Promise<void>>;
  /** Aborts to cut off running requests. */
  readonly cutting: AbortController;
}

async function closeServer(open: OpenServer, closing: ClosingTimes, clock: Clock): Promise<void> {
  const { server, connections, running, cutting } = open;
  // Everything that clients have sent is served, because a busy process may not have read it yet.
  for (let turn = 0; turn < turnsBeforeClosing; turn += 1) await nextTurn();
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.closeHttp2();
  // In this turn Node informs the clients.
  await nextTurn();
  const closeAllConnections = () => {
    server.closeAllConnections();
    connections.endHttp2();
  };
  const isIdleIn = (limitMs: number) =>
    waitAtMost(
      clock,
      limitMs,
      Promise.allSettled(running).then(() => true),
      () => false,
    );
  if (!(await isIdleIn(closing.endMaxMs))) {
    cutting.abort();
    await isIdleIn(closing.answerMaxMs);
    // Connections remain that read slowly or still send.
    closeAllConnections();
    await isIdleIn(closing.settleMaxMs);
  }
  closeAllConnections();
  await ended;
}

function headOf(incoming: IncomingMessage, scheme: 'http' | 'https'): NodeExchange['head'] {
  const { method = '', url = '/' } = incoming;
  const headers = incoming.headersDistinct as GatewayRequest['headers'];
  const declaredBodyBytes = declaredBytes(incoming.headers);
  return { method, path: pathOf(url), query: queryOf(url), headers, scheme, declaredBodyBytes };
}

const serverOptions = {
  maxHeaderSize: headersMaxBytes,
  requestTimeout: requestTimeoutMs,
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: timeoutCheckMs,
  requireHostHeader: false,
  highWaterMark: writeAheadBytes,
};

/** TLS options; a handshake has the time limit of a head. */
const tlsOptions = { ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: headersTimeoutMs };

const listen = (server: Server | TlsServer, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: listenBacklogMax }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
