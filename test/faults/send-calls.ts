// Clients of the fault suite: over HTTP, so many at a time, and some of them leave in the middle.

import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer, type Gateway } from '../../shared/protocol/http/index.ts';
import type { Reply } from '../fuzz/fuzz-gateway.ts';
import type { Keys } from './fault-file.ts';
import type { FaultyGateway } from './fault-world.ts';
import type { PlannedCall } from './mixed-calls.ts';

export interface SentCall {
  readonly call: PlannedCall;
  /** Undefined: the client left before it had everything. */
  readonly reply: Reply | undefined;
}

export interface Server {
  send(calls: readonly PlannedCall[], atOnce: number): Promise<readonly SentCall[]>;
  /** Resolves when no request is under way any more, settlement included. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function serve({ gateway, runtime }: FaultyGateway, keys: Keys): Promise<Server> {
  const running = new Set<Promise<unknown>>();
  const counted: Gateway = async (request, context) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    void promise.then(() => running.delete(promise));
    const response = await gateway(request, context);
    return { ...response, finish: async () => response.finish?.().finally(resolve) };
  };
  const server = createNodeServer(counted, runtime);
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1`;
  return {
    async send(calls, atOnce) {
      const waiting = [...calls.entries()];
      const sent: SentCall[] = [];
      const client = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [at, call] = next;
          sent[at] = { call, reply: await sendOne(url, call, keys) };
        }
      };
      await Promise.all(Array.from({ length: atOnce }, client));
      return sent;
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
    close: () => server.close(),
  };
}

/** One call, read to its end. */
export async function sendOne(url: string, call: PlannedCall, keys: Keys): Promise<Reply | undefined> {
  const client = new AbortController();
  const done = new AbortController();
  if (call.leavesAfterMs !== undefined) {
    void sleep(systemClock, call.leavesAfterMs, done.signal).then(() => client.abort());
  }
  try {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[call.key]}`, 'content-type': 'application/json', ...call.headers },
      body: JSON.stringify(call.body),
      signal: client.signal,
    });
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
    return { status: response.status, headers, text, isStream };
  } catch (error) {
    if (client.signal.aborted) return undefined;
    throw error;
  } finally {
    done.abort();
  }
}
