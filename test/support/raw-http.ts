// Clients of the node:http adapter that do things which SDKs never do: raw bytes, early disconnects, incomplete
// requests.
import { once } from 'node:events';
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface RawCall {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
}

const host = '127.0.0.1';

/** Sends a request and resolves with the response as soon as its headers arrive. */
export async function open(port: number, { body, ...options }: RawCall = {}): Promise<IncomingMessage> {
  const outgoing = request({ host, port, path: '/', agent: new Agent(), ...options });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return incoming;
}

export async function call(port: number, options: RawCall = {}): Promise<RawAnswer> {
  const incoming = await open(port, options);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: await text(incoming) };
}

export async function connected(port: number): Promise<Socket> {
  const socket = connect(port, host);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes unchanged and reads until the server closes. */
export async function exchangeBytes(port: number, bytes: string): Promise<string> {
  const socket = await connected(port);
  socket.write(bytes);
  return text(socket);
}
