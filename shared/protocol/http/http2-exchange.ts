// Converts a request of an HTTP/2 connection to the gateway's form of a request.
import { headersMaxBytes } from '../../foundation/constants/index.ts';
import { http2Answer } from './answer-port.ts';
import { queryOf } from './exchange.ts';
import type { Http2Request } from './http2-connection.ts';
import { declaredBytes, incomingBody } from './node-body.ts';
import type { NodeExchange } from './node-exchange.ts';
import { malformedRequest, pathOf } from './node-refusals.ts';

export function http2Exchange(
  request: Http2Request,
  scheme: NodeExchange['head']['scheme'],
  cut: AbortSignal,
): NodeExchange {
  const { stream, rawHeaders, bodyAsked, keyFound } = request;
  const { method, target, headers, bytes } = readHead(rawHeaders);
  const declared = declaredBytes({ 'content-length': headers['content-length']?.[0] });
  const expectsContinue = headers.expect?.[0]?.toLowerCase() === '100-continue';
  const body = incomingBody(stream, declared, () => {
    bodyAsked();
    if (expectsContinue && !stream.headersSent) stream.additionalHeaders({ ':status': 100 });
  });
  if (bytes > headersMaxBytes) stream.emit('error', malformedRequest());
  const head = { method, path: pathOf(target), query: queryOf(target), headers, scheme, declaredBodyBytes: declared };
  return { head, body, answer: http2Answer(stream), keyFound, cut };
}

/** Bytes of a field besides its name and value, as HTTP/1.1 sends it. */
const fieldBytes = ': \r\n'.length;

function readHead(rawHeaders: readonly string[]) {
  const headers: Record<string, string[]> = {};
  const pseudoHeaders: Record<string, string> = {};
  let bytes = 0;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    bytes += name.length + value.length + fieldBytes;
    if (name.startsWith(':')) pseudoHeaders[name] = value;
    else if (Object.hasOwn(headers, name)) headers[name]?.push(value);
    else headers[name] = [value];
  }
  // If both fields name a host, both are checked.
  const { ':authority': authority, ':method': method = '', ':path': target = '/' } = pseudoHeaders;
  if (authority !== undefined && !headers.host?.includes(authority))
    headers.host = [authority, ...(headers.host ?? [])];
  // HTTP/2 sends a cookie in several fields.
  if (headers.cookie !== undefined) headers.cookie = [headers.cookie.join('; ')];
  return { method, target, headers, bytes };
}
