// Simulates an unreliable provider. Relays the simulator's answers with bytes changed, cut, repeated or delayed.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Share of an answer's chunks that are changed. */
const changedOf = 0.12;
const heldBackMaxMs = 200;
const junk: readonly string[] = [
  '\0\0\0\0',
  'data: {"error":{"message":"no","code":null}}\n\n',
  'event: error\ndata: {\n\n',
  'HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n',
  '0\r\n\r\n',
  '{"usage":{"prompt_tokens":-1,"completion_tokens":1e308}}',
  `data: ${'['.repeat(2_000)}\n\n`,
  ':'.repeat(5_000),
  '\ud800\uffff',
];

type PieceChange = (
  piece: Buffer,
  random: SeededRandom,
  ends: Pick<Socket, 'end' | 'resetAndDestroy'>,
) => readonly Buffer[];

const place = (piece: Buffer, random: SeededRandom): number => random.below(piece.length + 1);
const changes: readonly PieceChange[] = [
  (piece, random) => {
    const changedBytes = Buffer.from(piece);
    changedBytes[random.below(piece.length)] = random.below(256);
    return [changedBytes];
  },
  (piece, random) => [piece.subarray(0, place(piece, random))],
  (piece, random) => [piece, piece.subarray(place(piece, random))],
  (piece, random) => {
    const at = place(piece, random);
    return [piece.subarray(0, at), Buffer.from(random.pick(junk)), piece.subarray(at)];
  },
  (piece, random) => {
    const [from, to] = [place(piece, random), place(piece, random)].toSorted((a, b) => a - b);
    return [piece.subarray(0, from), piece.subarray(to)];
  },
  (piece, random, ends) => {
    const half = piece.subarray(0, place(piece, random));
    if (random.chance(0.5)) ends.resetAndDestroy();
    else ends.end(half);
    return [];
  },
];

interface HostileProxy {
  /** URL of the same server through the proxy. Ends in /v1. */
  readonly url: string;
  stop(): void;
}

export async function startHostileProxy(port: number, random: SeededRandom): Promise<HostileProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const behind = connect(port, '127.0.0.1');
    for (const one of [socket, behind]) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => sockets.delete(one));
    }
    socket.on('data', (piece) => behind.write(piece)).on('close', () => behind.destroy());
    behind.on('data', (piece: Buffer) => void forward(piece, socket)).on('close', () => socket.end());
  });
  function forward(piece: Buffer, socket: Socket): void {
    if (socket.destroyed) return;
    if (!random.chance(changedOf)) return void socket.write(piece);
    for (const part of random.pick(changes)(piece, random, socket)) {
      if (socket.destroyed || socket.writableEnded || part.length === 0) continue;
      if (random.chance(0.2))
        systemClock.after(random.below(heldBackMaxMs), () => socket.writable && socket.write(part));
      else socket.write(part);
    }
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
