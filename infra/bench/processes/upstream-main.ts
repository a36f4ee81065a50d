// A provider as fast as Node can be, in a process of its own: fixed answers, nothing parsed. Every chunk of a stream is
// a write of its own, with a turn of the event loop between, so that no reader gets them all at once. Behind the first
// stands a pause that any model takes for its second token: else who writes three hundred chunks, who relays them and who
// reads them would fight for the cores of the machine while the first is on its way.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { asksForStream, jsonAnswer, streamEvents } from '../upstream-answers.ts';
import { sayReady } from './child-side.ts';

const secondTokenMs = 10;

const server = createServer(async (incoming, outgoing) => {
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  await answer(Buffer.concat(parts).toString(), incoming, outgoing);
});

async function answer(body: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (!asksForStream(body)) {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': jsonAnswer.length });
    outgoing.end(jsonAnswer);
    return;
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [number, event] of streamEvents.entries()) {
    if (incoming.destroyed && outgoing.destroyed) return;
    outgoing.write(event);
    await (number === 0 ? sleep(systemClock, secondTokenMs) : nextTurn());
  }
  outgoing.end();
}

// Idle longer than any section of the bench: a socket that closes in between would be measured as a slow call.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => sayReady({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }));
