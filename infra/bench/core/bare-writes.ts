// The embedded store by itself: plain writes from bare sockets, with no client in front of them. Nothing that waits for a
// round of writes can be faster than this.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { physicalTableName } from '../../../shared/foundation/constants/index.ts';

/** About what the claims of a call write. */
const itemBytes = 1_000;

export interface BareWrites {
  /** Sends one write on each socket at once, and resolves when all are answered. Throws where one is refused. */
  send(): Promise<void>;
  close(): void;
}

export async function openBareWrites(endpoint: string, stage: string, count: number): Promise<BareWrites> {
  const { hostname, port } = new URL(endpoint);
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname).setNoDelay(true);
      await once(socket, 'connect');
      return socket;
    }),
  );
  return {
    async send() {
      await Promise.all(sockets.map((socket, at) => writeOnce(socket, requestText(stage, `bare-${at}`))));
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function requestText(stage: string, pk: string): string {
  const Item = { pk: { S: pk }, text: { S: 'x'.repeat(itemBytes) } };
  const body = JSON.stringify({ TableName: physicalTableName(stage, 'config'), Item });
  const head = [
    'POST / HTTP/1.1',
    'host: localhost',
    'content-type: application/x-amz-json-1.0',
    'x-amz-target: DynamoDB_20120810.PutItem',
    // Of a form that servers outside AWS ask for; they check no signature.
    'authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    'x-amz-date: 20260101T000000Z',
    `content-length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** The answer is a few hundred bytes: one piece. */
async function writeOnce(socket: Socket, text: string): Promise<void> {
  const answered = once(socket, 'data');
  socket.write(text);
  const [answer] = (await answered) as [Buffer];
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error('the store refused a plain write');
}
