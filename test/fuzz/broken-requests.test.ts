// Requests that Node's parser refuses, against the process of `npm start`: each is answered or its connection closed,
// and the process serves the next one.
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { publishedKey } from '../../infra/local/demo/demo-file.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { connected } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const seed = Number(process.env.GW_FUZZ_SEED ?? 20_260_601);
const times = Number(process.env.GW_FUZZ_TIMES ?? 1);
/** The number of simultaneous connections. */
const batch = 50;

let gateway: RunningGateway;
let port: number;
beforeAll(async () => {
  gateway = await startGateway('--log json', temporaryFolder());
  port = Number(new URL(gateway.url).port);
});
afterAll(() => gateway.stop());

const healthy = async () => expect((await fetch(new URL('/health', gateway.url))).status).toBe(200);

async function inBatches<One>(all: readonly One[], send: (one: One) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += batch) {
    await Promise.all(all.slice(from, from + batch).map(send));
    await healthy();
  }
}

const chunked = 'Transfer-Encoding: chunked\r\n\r\n';
/** Headers and bodies that no parser accepts. */
const brokenBodies = [
  'Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: gzip, chunked, identity\r\n\r\n0\r\n\r\n',
  `${chunked}1\r\naXX0\r\n\r\n`,
  `${chunked}zz\r\n0\r\n\r\n`,
  `${chunked}-1\r\n0\r\n\r\n`,
  `${chunked}ffffffffffffffffff\r\n0\r\n\r\n`,
  `${chunked}1;\r\r\n0\r\n\r\n`,
  `${chunked}3\r\nabc0\r\n\r\n0\r\n\r\n`,
  `${chunked}0\r\nno trailer\r\n\r\n0\r\n\r\n`,
  `${chunked}1 \0\r\na\r\n0\r\n\r\n`,
];
const behind = ['', 'x', '\r\n', 'GET /health HTTP/1.1\r\n\r\n', 'x'.repeat(5_000)];
const lines = [
  'GET /health',
  'HEAD /health',
  'GET /v1/models',
  'GET /nothing',
  'POST /',
  'POST /v1/chat/completions',
  'POST /v1/messages',
  'POST /openai/v1/embeddings',
  'GET /console/',
  'PUT /v1/manage/workspaces/default',
];

describe('a process', () => {
  it('answers each request with a broken body with 400 and closes its connection, whatever follows it', async () => {
    const all = lines.flatMap((line) =>
      brokenBodies.flatMap((body) =>
        behind.flatMap((rest) => [true, false].map((hasKey) => ({ line, body, rest, hasKey }))),
      ),
    );
    await inBatches(all, async ({ line, body, rest, hasKey }) => {
      const authorization = hasKey ? `Authorization: Bearer ${publishedKey}\r\n` : '';
      const request = `${line} HTTP/1.1\r\n${authorization}${body}${rest}`;
      const answer = await allOf(await connected(port), request);
      expect([request, answer.slice(0, 12), answer.split('HTTP/1.1 ').length]).toEqual([request, 'HTTP/1.1 400', 2]);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    });
  });

  it('outlives pieces of requests in any order', async () => {
    const piece = fc.oneof(
      fc.constantFrom(...lines.map((line) => `${line} HTTP/1.1\r\n`), ...brokenBodies, ...behind),
      fc.constantFrom(
        ...['\r\n\r\n', 'Content-Length: 3\r\n', 'Content-Length: 0\r\n\r\n', 'abc', 'Expect: 100-continue\r\n'],
        ...['Connection: upgrade\r\nUpgrade: h2c\r\n', 'CONNECT a:1 HTTP/1.1\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
        ...[
          `Authorization: Bearer ${publishedKey}\r\n`,
          'Trailer: a\r\n',
          'Host: a\r\nHost: b\r\n',
          '0\r\na: b\r\n\r\n',
        ],
      ),
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    const connection = fc.array(piece, { minLength: 1, maxLength: 12 });
    const some = fc.array(connection, { minLength: batch, maxLength: batch });
    const property = fc.asyncProperty(some, async (connections) => {
      const sockets = await Promise.all(connections.map(() => connected(port)));
      for (const [index, pieces] of connections.entries()) sockets[index]?.write(pieces.join(''), 'latin1');
      await healthy();
      // Half of the clients reset the connection, the others close it.
      for (const [index, socket] of sockets.entries()) index % 2 === 0 ? socket.resetAndDestroy() : socket.destroy();
      await healthy();
    });
    await fc.assert(property, { seed, numRuns: 20 * times, endOnFailure: true });
  });

  it('has logged no fault of its own by then', () => {
    expect(gateway.out()).not.toMatch(/internal_error|request_failed|unhandled|answer_failed|server_failed/);
  });
});

async function allOf(socket: Socket, bytes: string): Promise<string> {
  socket.write(bytes);
  return text(socket).catch(() => '');
}
