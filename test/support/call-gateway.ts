// Sends one request to a gateway without a server: for thousands of requests, and for gateways that are about to be
// killed.
import type { Gateway, GatewayRequest, GatewayResponse } from '../../shared/protocol/http/index.ts';

export interface DirectRequest extends Pick<GatewayRequest, 'headers' | 'arrivedAtMs'> {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly query?: string | undefined;
  readonly body: Uint8Array;
  /** Time at which the runtime ends the request. Default: never. */
  readonly endsAtMs?: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, read to its end or to the point where the client disconnected. */
  readonly text: string;
  readonly isStream: boolean;
}

export interface DirectClient {
  /** Number of pieces of a stream after which the client disconnects. */
  readonly disconnectsAfter?: number | undefined;
  /** Called when the client has the complete reply, before settlement. */
  readonly onReply?: (reply: Reply) => void;
}

/** Resolves when the reply was read and all work after it is done. */
export async function callGateway(
  gateway: Gateway,
  { method = 'POST', path = '/v1/chat/completions', query = '', headers, arrivedAtMs, body, endsAtMs }: DirectRequest,
  { disconnectsAfter, onReply }: DirectClient = {},
): Promise<Reply> {
  const client = new AbortController();
  const bytes = Buffer.from(body);
  const declaredBodyBytes = bytes.length;
  const request = { method, path, query, headers, declaredBodyBytes, readBody: async () => bytes, arrivedAtMs };
  const response = await gateway(request, { clientGone: client.signal, endsAtMs });
  const isStream = typeof response.body !== 'string';
  const text = await readBody(response.body, disconnectsAfter, client);
  const reply = { status: response.status, headers: response.headers, text, isStream };
  onReply?.(reply);
  await response.finish?.();
  return reply;
}

/** Reads as the server adapters do: to the end, or until the client has disconnected. */
async function readBody(
  body: GatewayResponse['body'],
  disconnectsAfter: number | undefined,
  client: AbortController,
): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  let pieces = 0;
  for await (const piece of body) {
    text += piece.text;
    pieces += 1;
    if (pieces !== disconnectsAfter) continue;
    client.abort('client_gone');
    break;
  }
  return text;
}
