// A provider in front of the simulator: it holds its calls, or the end of its answers, until a test releases them, and
// knows the keys of accounts.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFaultScript } from './fault-script.ts';
import { sendRequest } from './http-client.ts';

/**
 * Modes. 'held': no answer begins. 'unfinished': no answer ends. Both last until the next release. 'keyed': a call with
 * another key than `goodKey` is refused. 'toggled': audio if the client asked for events, and the reverse. 'cited':
 * each JSON of an answer has a field that names a source.
 */
export type GateMode = 'held' | 'unfinished' | 'keyed' | 'toggled' | 'cited';

export const goodKey = 'sk-matrix-good';

export interface GatedProvider {
  /** Returns the base URL of a provider. */
  urlOf(mode: GateMode, provider: string): string;
  /** Resolves when a call of a provider is held. */
  arrived(provider: string): Promise<void>;
  /** The paths of refused calls. */
  readonly refusals: readonly string[];
  /** Releases everything that is held now. */
  release(): void;
  /** Rejects if a mode that a provider has was never met. */
  stop(): Promise<void>;
}

function toggled(body: Buffer): string {
  const { stream_format: form, ...fields } = JSON.parse(body.toString('utf8'));
  return JSON.stringify(form === 'sse' ? fields : { ...fields, stream_format: 'sse' });
}

export const citation = 'A forbidden source';

/** Adds a source to JSON, and to text events. */
function cited(bytes: Buffer, type: string): Buffer {
  if (!/json|event-stream/.test(type) || type.includes('amazon')) return bytes;
  const beginning = type.includes('json') ? /^\{/ : /^data: \{/gm;
  return Buffer.from(bytes.toString('utf8').replaceAll(new RegExp(beginning, 'gm'), `$&"citations":["${citation}"],`));
}

/** Starts the provider. `simulatorUrl` returns the URL of a provider of the simulator. */
export async function startGatedProvider(simulatorUrl: (provider: string) => string): Promise<GatedProvider> {
  const script = createFaultScript('a gated provider');
  const refusals: string[] = [];
  const held = new Set<string>();
  let gate = Promise.withResolvers<void>();
  let arrival = Promise.withResolvers<void>();

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const [, mode = '', provider = '', , ...below] = (incoming.url ?? '').split('/');
    script.markSent(mode);
    const pieces: Buffer[] = [];
    for await (const piece of incoming as AsyncIterable<Buffer>) pieces.push(piece);
    const bodyBytes = Buffer.concat(pieces);
    const body = mode === 'toggled' ? toggled(bodyBytes) : bodyBytes;
    const { promise: release } = gate;
    if (mode === 'keyed' && !Object.values(incoming.headers).some((value) => String(value).endsWith(goodKey))) {
      refusals.push(provider);
      outgoing.writeHead(401, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }));
      return;
    }
    if (mode === 'held') {
      held.add(provider);
      arrival.resolve();
      arrival = Promise.withResolvers();
      await release;
    }
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = incoming.headers;
    const answer = await sendRequest(`${simulatorUrl(provider)}/${below.join('/')}`, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body,
    });
    const type = answer.headers.get('content-type') ?? '';
    const whole = Buffer.from(await answer.arrayBuffer());
    const bytes = mode === 'cited' ? cited(whole, type) : whole;
    const {
      'content-length': _whole,
      'transfer-encoding': _coding,
      ...relayedHeaders
    } = Object.fromEntries(answer.headers);
    outgoing.writeHead(answer.status, relayedHeaders);
    if (mode === 'unfinished') {
      // The split is after the first output, and before the end.
      outgoing.write(bytes.subarray(0, -1 * Math.ceil(bytes.length / 10)));
      await release;
      outgoing.end(bytes.subarray(-1 * Math.ceil(bytes.length / 10)));
    } else outgoing.end(bytes);
  }

  const server = createServer((incoming, outgoing) => {
    outgoing.on('error', () => {});
    void serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urlOf(mode, provider) {
      script.script(mode);
      return `${origin}/${mode}/${provider}/v1`;
    },
    refusals,
    async arrived(provider) {
      while (!held.has(provider)) await arrival.promise;
    },
    release() {
      held.clear();
      gate.resolve();
      gate = Promise.withResolvers();
    },
    async stop() {
      gate.resolve();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      script.check();
    },
  };
}
