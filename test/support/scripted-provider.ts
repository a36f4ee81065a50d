// A provider whose answers a test writes itself, byte by byte: for formats that the simulator does not have.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { type Harness, startHarness } from './harness.ts';

export interface ScriptedProvider {
  /** Base URL; ends in /v1. */
  readonly url: string;
  /** The received bodies, in order of arrival. */
  readonly bodies: readonly string[];
  /** Rejects if the provider was never called, because a test that scripts its answer would then show nothing. */
  stop(): Promise<void>;
}

/**
 * Starts the provider. `answer` gets the number of the request, from 0, when its body has arrived. `requests` is `none`
 * for a provider after others, whose stop rejects if it was called.
 */
export async function startScriptedProvider(
  answer: (outgoing: ServerResponse, call: number) => void,
  { requests = 'required' }: { readonly requests?: 'required' | 'none' | 'optional' } = {},
): Promise<ScriptedProvider> {
  const bodies: string[] = [];
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (text) => {
      body += text;
    });
    incoming.on('end', () => {
      bodies.push(body);
      answer(outgoing, bodies.length - 1);
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    bodies,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      const isWrong = requests === 'none' ? bodies.length > 0 : requests === 'required' && bodies.length === 0;
      if (isWrong) throw new Error(`a scripted provider was asked ${bodies.length} times`);
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Returns a completion with these messages, one choice each. */
export function completionOf(...messages: readonly Record<string, unknown>[]): string {
  const choices = messages.map(({ finish_reason = 'stop', ...message }, index) => ({
    index,
    message: { role: 'assistant', ...message },
    finish_reason,
  }));
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return JSON.stringify({ id: 'scripted', object: 'chat.completion', created: 1, model: 'scripted', choices, usage });
}

/** Returns a chunk of a streamed completion as an event. */
export function chunkText(delta: object, finish_reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  return JSON.stringify({ id: 'scripted', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices });
}
export const chunkEvent = (...chunk: Parameters<typeof chunkText>): string => `data: ${chunkText(...chunk)}\n\n`;

/** An answer with a content type of its own. */
export interface ScriptedReply {
  readonly type: string;
  readonly body: string | Uint8Array;
}
export const jsonReply = (body: object | string): ScriptedReply => ({
  type: 'application/json',
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
/** Returns the text of these events, each under the name of its type if it has one. */
export const eventTexts = (...events: readonly object[]): string =>
  events
    .map((event) => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');
export const eventsReply = (...events: readonly object[]): ScriptedReply => ({
  type: 'text/event-stream',
  body: eventTexts(...events),
});

export function sendReply(outgoing: ServerResponse, { type, body }: ScriptedReply): void {
  outgoing.writeHead(200, { 'content-type': type });
  outgoing.end(body);
}

export function sendJson(outgoing: ServerResponse, body: string): void {
  sendReply(outgoing, jsonReply(body));
}

/** Starts a gateway with one model, `acme/model`, that this provider serves. */
export async function startScriptedGateway(
  answer: (outgoing: ServerResponse) => void,
): Promise<{ gateway: Harness; provider: ScriptedProvider; stop(): Promise<void> }> {
  const provider = await startScriptedProvider(answer);
  const gateway = await startHarness({
    models: { 'acme/model': [{ provider: 'acme', upstream: 'scripted' }] },
    providers: { acme: { base_url: provider.url } },
  });
  return {
    gateway,
    provider,
    async stop() {
      await gateway.stop();
      await provider.stop();
    },
  };
}
