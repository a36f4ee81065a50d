// A TCP server whose connections a test treats itself: for what is no HTTP, and for connections that break.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createFaultScript } from './fault-script.ts';

export interface SocketServer {
  readonly port: number;
  /** Every connection until now. */
  readonly sockets: ReadonlySet<Socket>;
  readonly connected: Promise<unknown>;
  /** Destroys every connection. Rejects if none was opened: the fault of the server has met nobody. */
  stop(): Promise<void>;
}

/** `treat` is called with each connection. */
export async function startSocketServer(treat: (socket: Socket) => void): Promise<SocketServer> {
  const script = createFaultScript('a socket server');
  const fault = `to a connection, ${treat}`;
  script.script(fault);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    script.markSent(fault);
    sockets.add(socket);
    socket.on('error', () => {});
    treat(socket);
  }).listen(0, '127.0.0.1');
  const connected = once(server, 'connection');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    connected,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
      script.check();
    },
  };
}

/** Returns a port of this machine at which nothing listens. */
export async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a server that never sends a byte: the TLS handshake of a client never completes. */
export const startMuteServer = (): Promise<SocketServer> => startSocketServer(() => {});
