// Answers requests that the server refuses before any endpoint runs. The gateway still answers with the errors of their
// base URL, with ids and a log line.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { fail, type GatewayError } from '../../errors/index.ts';
import { runFinish } from './delivery.ts';
import { internalErrorAnswer, refusalAnswer } from './error-answers.ts';
import {
  type AdapterDependencies,
  canonicalPath,
  type Gateway,
  type GatewayRequest,
  type GatewayResponse,
  type HeaderValues,
  queryOf,
} from './exchange.ts';

/**
 * Errors for the HTTP parser's refusals: a broken request line, too many header bytes, a request that takes too long.
 */
export const malformedRequest = () =>
  fail('invalid_request', { message: 'The HTTP request is malformed, too large or too slow.' });

/** Refuses the rest of a body; its reader gets the error. */
export function endBody(
  { incoming, outgoing }: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  fault: GatewayError,
): void {
  incoming.emit('error', fault);
  // Node destroys the connection of an incomplete request, and the answer with it.
  incoming.complete = true;
  incoming.push(null);
  outgoing.shouldKeepAlive = false;
}

/** Answers a head that the parser could not read, after all other answers of its connection, which then ends. */
export async function refuseHead(
  gateway: Gateway,
  { head, connection }: { readonly head: string; readonly connection: Duplex },
  dependencies: AdapterDependencies,
): Promise<void> {
  const request = { ...readBrokenHead(head), declaredBodyBytes: 0, readBody: neverRead };
  const arrivedAtMs = dependencies.clock.nowMs();
  const clientGone = new AbortController().signal;
  const response = await gateway({ ...request, arrivedAtMs }, { clientGone, refusal: malformedRequest() }).catch(
    (cause) => internalErrorAnswer(cause, dependencies),
  );
  writeRawAnswer(connection, response);
  await runFinish(response, dependencies);
}

const neverRead = () => Promise.reject(new Error('a body of a request that was refused'));

/**
 * Answers a client that sends plain HTTP to a TLS port. The request's head is lost in the handshake, and the connection
 * is closed after this turn, so no endpoint can answer.
 */
export function refusePlainHttp(connection: Duplex, dependencies: AdapterDependencies): void {
  const message = 'This port speaks TLS: its URL begins with https://, not with http://.';
  writeRawAnswer(connection, refusalAnswer(fail('invalid_request', { message }), dependencies));
}

/** Writes an answer if the connection has no response object, and closes the connection. */
function writeRawAnswer(connection: Duplex, { status, headers, body }: GatewayResponse): void {
  const text = typeof body === 'string' ? body : '';
  const all = { ...headers, 'content-length': String(Buffer.byteLength(text)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`, () =>
    connection.destroy(),
  );
}

/**
 * Refuses a `Host` that is not loopback on a loopback address, so that a web page whose name resolves to 127.0.0.1
 * cannot reach the server (DNS rebinding).
 */
export const onlyForLoopback =
  (gateway: Gateway): Gateway =>
  (request, context) =>
    gateway(request, namesLoopback(request) ? context : { ...context, refusal: otherHost() });

/** True if the host is loopback, or absent, because a client without a `Host` is not a browser. */
const namesLoopback = ({ headers }: GatewayRequest): boolean =>
  (headers.host ?? []).every((host) => isLoopback(host.replace(/:\d+$/, '')));

const otherHost = () =>
  fail('invalid_request', { message: 'The Host header must name a loopback address: this gateway listens on one.' });

export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

// Reads as much as possible of a request head that Node's parser refuses, so that its refusal is logged with the path
// and the trace of its client.

const requestLine = /^([A-Z]{1,20}) (\S+)/;
const headerLine = /^([\w-]{1,100}):[ \t]*(.*?)[ \t]*$/;

type ReadHead = Pick<GatewayRequest, 'method' | 'path' | 'query' | 'headers'>;

function readBrokenHead(head: string): ReadHead {
  const [first = '', ...lines] = head.split('\r\n');
  const [, method = '', target = '/'] = requestLine.exec(first) ?? [];
  const headers: Record<string, string[]> = {};
  // The line after the last line break may be incomplete.
  for (const line of lines.slice(0, -1)) {
    const [, name, value = ''] = headerLine.exec(line) ?? [];
    if (name === undefined) continue;
    const values = headers[name.toLowerCase()] ?? [];
    headers[name.toLowerCase()] = [...values, value];
  }
  return { method, path: pathOf(target), query: queryOf(target), headers: headers satisfies HeaderValues };
}

/**
 * Returns the path of a request line, which may contain a whole URL (from a client that uses the gateway as its proxy).
 */
export const pathOf = (target: string): string => canonicalPath(target.replace(/^https?:\/\/[^/?#]*/i, ''));
