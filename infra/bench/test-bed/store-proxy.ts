// Relays requests between a gateway and its DynamoDB, and counts requests, the units that DynamoDB would bill, and the
// bytes of the bodies.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { sum } from '../report.ts';
import { type AttributeMap, itemBytes } from './item-size.ts';

export interface StoreRequest {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Bytes of the request's and the answer's body. */
  readonly bytes: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** The table of each written item, without the stage's prefix. */
  readonly writtenTables: readonly string[];
}

export async function startStoreProxy(storeUrl: string) {
  const agent = new Agent({ keepAlive: true });
  const requests: StoreRequest[] = [];
  let running = 0;
  let lastAtMs = 0;
  const server = createServer({ keepAliveTimeout: 600_000 }, async (incoming, outgoing) => {
    const startedAtMs = performance.now();
    running += 1;
    try {
      const text = await readText(incoming);
      const input = JSON.parse(text);
      const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
      // Operations on whole tables, which run at the start, consume no capacity.
      const counts = /Item$|^Query$|^Scan$|^BatchExecuteStatement$/.test(operation);
      const body = counts ? JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' }) : text;
      const headers = { ...incoming.headers, 'content-length': Buffer.byteLength(body) };
      const forwarded = request(storeUrl, { method: 'POST', agent, headers }).end(body);
      const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
      const answerText = await readText(answer);
      const endedAtMs = performance.now();
      if (counts)
        requests.push({ startedAtMs, endedAtMs, ...figuresOf(operation, text, input, JSON.parse(answerText)) });
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(answerText);
    } catch {
      // The gateway gave up the request, or the store has ended.
      outgoing.destroy();
    } finally {
      running -= 1;
      lastAtMs = performance.now();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /**
     * Returns the requests since the last call of this method, in the order of their ends. Waits until no request was
     * made for `quietMs`.
     */
    async takeRequests(quietMs: number): Promise<readonly StoreRequest[]> {
      const requestedAtMs = performance.now();
      while (running > 0 || performance.now() - Math.max(lastAtMs, requestedAtMs) < quietMs)
        await sleep(systemClock, 5);
      return requests.splice(0);
    },
    stop() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
  return proxy;
}

const readText = async (stream: IncomingMessage) => Buffer.concat(await stream.toArray()).toString();

interface StoreInput {
  readonly TableName: string;
  /** Items of BatchWriteItem, by table. */
  readonly RequestItems?: Readonly<Record<string, readonly unknown[]>>;
  /** Statements of BatchExecuteStatement, each of which is an update. */
  readonly Statements?: readonly { readonly Statement: string }[];
}
type Capacity = { readonly CapacityUnits: number };
interface StoreAnswer {
  /** Consumed capacity; a list if the operation takes several tables. */
  readonly ConsumedCapacity?: Capacity | readonly Capacity[];
  readonly __type?: string;
  /** The item that refused a write. */
  readonly Item?: AttributeMap;
  /** Outcomes of BatchExecuteStatement, one for each statement. */
  readonly Responses?: readonly { readonly Error?: { readonly Code?: string; readonly Item?: AttributeMap } }[];
}

function figuresOf(operation: string, requestText: string, input: StoreInput, answer: StoreAnswer) {
  const { ConsumedCapacity: capacity, ...answerBody } = answer;
  // DynamoDB bills a refused write like a write that succeeds, and reports no units for it.
  const refusals = [{ Code: answer.__type, Item: answer.Item }, ...statementErrors(answer)];
  const failedConditions = refusals.filter(({ Code }) => Code?.includes('ConditionalCheckFailed') === true);
  const refusedUnits = sum(failedConditions.map(({ Item = {} }) => Math.max(1, Math.ceil(itemBytes(Item) / 1_024))));
  const units = sum([capacity ?? []].flat().map(({ CapacityUnits }) => CapacityUnits)) + refusedUnits;
  const isWrite = !/Get|Query|Scan/.test(operation);
  const written = isWrite ? tablesIn(input).map((table) => table.replace(/^gw-[^-]+-/, '')) : [];
  return {
    bytes: Buffer.byteLength(requestText) + Buffer.byteLength(JSON.stringify(answerBody)),
    writeUnits: isWrite ? units : 0,
    readUnits: isWrite ? 0 : units,
    writtenTables: written,
  };
}

const statementErrors = ({ Responses = [] }: StoreAnswer) => Responses.flatMap(({ Error: error }) => error ?? []);

/** Returns the table of each item that the operation writes. */
function tablesIn({ TableName, RequestItems, Statements }: StoreInput): string[] {
  // The statement is `UPDATE "table" SET …`.
  if (Statements !== undefined) return Statements.map(({ Statement }) => Statement.split('"')[1] ?? '');
  return Object.entries(RequestItems ?? { [TableName]: [0] }).flatMap(([table, items]) => items.map(() => table));
}
