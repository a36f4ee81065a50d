// The gateway behind node:http: the local run, and what a Lambda Web Function would run. Unlike Lambda it sees a client
// hang up, and then lets go of the provider. Whatever a client sends, the server lives.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { headersMaxBytes } from '../../foundation/constants/index.ts';
import { type AdapterDependencies, finishMaxMs } from './adapter.ts';
import { settledWithin } from './bounded-wait.ts';
import type { Gateway } from './exchange.ts';
import { refuseMalformed } from './malformed-request.ts';
import { runExchange } from './node-exchange.ts';

/** A whole request: 4 MB in this time is 1.1 Mbit/s. */
const requestTimeoutMs = 30_000;
const headersTimeoutMs = 10_000;
/** How often Node looks for requests over these times. */
const timeoutCheckMs = 2_000;
/** Longer than load balancers and SDKs commonly keep an idle connection (60 s), so that they close first. */
const keepAliveTimeoutMs = 65_000;
/** What running requests get to end by themselves when the server closes. */
const closeMaxMs = 5_000;

export interface NodeServer {
  /** Resolves with the port once requests are taken. Rejects where the port cannot be had (`code: EADDRINUSE`). */
  listen(port: number, host: string): Promise<number>;
  /** Takes nothing new, lets running requests end for `closeMaxMs`, then destroys their connections. */
  close(): Promise<void>;
}

export function createNodeServer(gateway: Gateway, dependencies: AdapterDependencies): NodeServer {
  const { clock, randomness, log } = dependencies;
  const running = new Set<Promise<void>>();
  const answers = new WeakMap<Duplex, ServerResponse>();
  let closed: Promise<void> | undefined;
  const isClosing = () => closed !== undefined;

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    answers.set(incoming.socket, outgoing);
    const exchange = runExchange(gateway, { incoming, outgoing, isClosing }, dependencies).finally(() => {
      running.delete(exchange);
    });
    running.add(exchange);
  };

  const server = createServer(serverOptions, onRequest);
  // Node would answer these two by itself, in another shape than ours.
  server.on('checkExpectation', onRequest);
  server.on('clientError', (_cause, socket) => refuseMalformed(socket, answers.get(socket), randomness));

  const close = async () => {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    await settledWithin(clock, Promise.allSettled(running), closeMaxMs);
    server.closeAllConnections();
    // What was cut off still settles.
    await settledWithin(clock, Promise.allSettled(running), finishMaxMs);
    await ended;
  };
  return {
    listen: async (port, host) => {
      const taken = await listen(server, port, host);
      // From here on it is an accept that failed (too many open files, say), and the server goes on.
      server.on('error', (cause) => log.error({ event: 'server_failed' }, cause));
      return taken;
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

const serverOptions = {
  maxHeaderSize: headersMaxBytes,
  requestTimeout: requestTimeoutMs,
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: timeoutCheckMs,
  keepAliveTimeout: keepAliveTimeoutMs,
  requireHostHeader: false,
};

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
