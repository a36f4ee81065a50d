// A provider on a real socket that sends whatever a script says, HTTP or not, and then closes in one of several ways.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createTransport, type Transport } from '../../shared/routing/providers/index.ts';
import { goodCompletion, goodTexts, streamBytes } from './upstream-replies.ts';

export interface Script {
  readonly writes: readonly string[];
  readonly ending: 'end' | 'destroy' | 'reset';
}

const json = JSON.stringify(goodCompletion);
const stream = streamBytes(goodTexts, { lineEnd: '\n', prefix: 'data: ' }).toString();
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

const statusLine = fc.constantFrom(
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 304 Not Modified\r\n',
  'HTTP/1.1 429 Too Many Requests\r\n',
  'HTTP/1.1 500 Oh\r\n',
  'HTTP/1.1 999 What\r\n',
  'HTTP/1.0 200 OK\r\n',
  'HTTP/2 200\r\n',
  'HTTP/1.1 20',
  'hello\r\n',
  '\u0000\u0001',
);
const header = fc.constantFrom(
  'content-type: application/json\r\n',
  'content-type: text/event-stream\r\n',
  `content-length: ${Buffer.byteLength(json)}\r\n`,
  'content-length: 0\r\n',
  'content-length: 99999\r\n',
  'content-length: -1\r\n',
  'transfer-encoding: chunked\r\n',
  'transfer-encoding: gzip\r\n',
  'connection: upgrade\r\nupgrade: websocket\r\n',
  'connection: close\r\n',
  'retry-after: 1\r\n',
  `x: ${'x'.repeat(20_000)}\r\n`,
  'broken\r\n',
);
const body = fc.constantFrom(
  json,
  json.slice(0, 40),
  stream,
  stream.slice(0, 300),
  `${chunked(json)}0\r\n\r\n`,
  `${chunked(stream)}0\r\n\r\n`,
  chunked(stream.slice(0, 300)),
  'zz\r\n',
  '0\r\n\r\n',
  ': comment\n\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
);

export const script: fc.Arbitrary<Script> = fc.record({
  writes: fc
    .tuple(
      fc.array(statusLine, { minLength: 1, maxLength: 2 }),
      fc.array(header, { maxLength: 3 }),
      fc.constantFrom('\r\n', '\r\n', '\r\n', ''),
      fc.array(body, { maxLength: 2 }),
    )
    .map(([lines, headers, blank, bodies]) => [...lines, headers.join('') + blank, ...bodies]),
  ending: fc.constantFrom('end' as const, 'destroy' as const, 'reset' as const),
});

export interface OddProvider {
  /** Returns a transport that calls a provider with this script. */
  transportFor(script: Script): Transport;
  stop(): void;
}

export async function startOddProvider(): Promise<OddProvider> {
  const transport = createTransport(systemClock);
  const scripts: Script[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (request: Buffer) => {
      const { writes, ending } = scripts[Number(/^POST \/(\d+)/.exec(request.toString('latin1'))?.[1])] as Script;
      const close = () => {
        if (ending === 'end') socket.end();
        else if (ending === 'destroy') socket.destroy();
        else socket.resetAndDestroy();
      };
      const write = (index: number): void => {
        const text = writes[index];
        if (text === undefined) close();
        else socket.write(text, () => write(index + 1));
      };
      write(0);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    transportFor(one) {
      const id = scripts.push(one) - 1;
      return {
        send: (request) => transport.send({ ...request, url: new URL(`http://127.0.0.1:${port}/${id}`) }),
        close: () => {},
      };
    },
    stop() {
      transport.close();
      server.close();
    },
  };
}
