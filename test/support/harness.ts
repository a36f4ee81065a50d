// The gateway as a client uses it: real HTTP, every stage, the store of a local run, the provider simulator. A test can
// also read credit, keys and call records, and start more gateways on the same store.
import type { Simulator } from '../../infra/local/simulator/index.ts';
import type { CallRecord } from '../../shared/accounting/call-records/index.ts';
import type { CreditSummary } from '../../shared/accounting/credit/index.ts';
import type { Composition } from '../../shared/composition/index.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import type { TelemetryEnvironment } from '../../shared/foundation/environment/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { startGatewayBackends } from './gateway-backends.ts';
import { applyGatewayText, type FileParts, gatewayFileText, newKey } from './gateway-file.ts';
import { sendRequest } from './http-client.ts';
import { readRecords } from './read-records.ts';
import { type GatewayServer, serveGateway } from './serve-gateway.ts';
import type { SpokenInterface } from './spoken-interfaces.ts';
import { startTestStore, type TestStore } from './test-store.ts';

export interface GatewayOptions {
  /** Clock of the gateway. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Time limit of a stream. Default: 55. */
  readonly streamBudgetSeconds?: number | undefined;
  /** Request rate of keys without one of their own. Default: any number. */
  readonly keyRequestsPerMinute?: number | undefined;
  /** Destination of traces. Default: none. */
  readonly telemetry?: TelemetryEnvironment | undefined;
  /**
   * Whether the store writes all changes of a turn in one transaction. Default: true, as the store of a local run does.
   */
  readonly joinsWrites?: boolean | undefined;
  /** Wraps the store of the gateway. */
  readonly wrapStore?: ((store: Store) => Store) | undefined;
  /** Returns parts that replace those of the real composition. */
  readonly replace?: ((composition: Composition) => Partial<Composition>) | undefined;
}

export interface HarnessOptions extends FileParts, GatewayOptions {
  /** Store of the test, which the harness stops. Default: a store in memory. */
  readonly testStore?: TestStore | undefined;
  /** Whether faults of the gateway file need no call: suites share the file, or it is generated. Default: false. */
  readonly mayLeaveFaults?: boolean | undefined;
  /** The interface of `post` and of all providers. Default: chat completions. */
  readonly speaks?: Pick<SpokenInterface, 'api' | 'path'> | undefined;
}

export interface ServedGateway extends Pick<GatewayServer, 'url' | 'settled' | 'close'> {
  readonly composition: Composition;
  post(body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /** Sends a request to a path below the base URL. */
  postTo(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

export interface Harness extends ServedGateway {
  readonly key: string;
  readonly simulator: Simulator;
  readonly testStore: TestStore;
  /** Every line that a gateway logged. */
  readonly logLines: readonly string[];
  /** Starts another gateway on the same store. */
  open(options?: GatewayOptions): Promise<ServedGateway>;
  /** Applies another gateway file. */
  apply(parts: FileParts): Promise<void>;
  credit(workspace?: string): Promise<CreditSummary>;
  /** Returns the records in the order of the calls, even within one millisecond: the last call is the last record. */
  records(workspace?: string): Promise<CallRecord[]>;
  /** Waits until every call is charged, and returns the last record. */
  lastRecord(): Promise<CallRecord | undefined>;
  /** Returns the record of the call with this answer, once it is charged. */
  recordOf(response: Pick<Response, 'headers'>): Promise<CallRecord | undefined>;
  keyItem(key?: string): Promise<Item>;
  stop(): Promise<void>;
}

export async function startHarness({
  clock,
  streamBudgetSeconds,
  telemetry,
  wrapStore,
  replace,
  speaks,
  mayLeaveFaults = false,
  testStore: givenStore,
  ...parts
}: HarnessOptions): Promise<Harness> {
  const testStore = givenStore ?? (await startTestStore());
  const backends = await startGatewayBackends(testStore);
  const { simulator, logLines } = backends;
  const key = newKey();
  const servers: GatewayServer[] = [];
  const answeredIds: string[] = [];
  // This composition is separate from the gateways: operators' work must not count as theirs.
  const operator = backends.createComposition({ clock, store: testStore.store });
  const apply = (file: FileParts) => {
    for (const { provider, upstream } of Object.values(file.models).flat()) {
      const isSimulated = file.providers?.[provider]?.base_url === undefined;
      if (isSimulated && !mayLeaveFaults) simulator.expectFault(provider, upstream);
    }
    return applyGatewayText(operator, gatewayFileText({ apis: speaks && [speaks.api], ...file }, simulator.urlOf, key));
  };
  const open = async (options: GatewayOptions = {}): Promise<ServedGateway> => {
    const store = options.wrapStore?.(testStore.store) ?? testStore.store;
    const real = backends.createComposition({
      clock: options.clock ?? clock,
      streamBudgetSeconds: options.streamBudgetSeconds ?? streamBudgetSeconds,
      keyRequestsPerMinute: options.keyRequestsPerMinute,
      telemetry: options.telemetry,
      joinsWrites: options.joinsWrites,
      store,
    });
    const composition = { ...real, ...options.replace?.(real) };
    const server = await serveGateway(composition, undefined, answeredIds);
    servers.push(server);
    const { url, settled, close } = server;
    return { url, settled, close, composition, ...requestsTo(url, key, speaks?.path) };
  };
  const records = (workspace = 'team') => readRecords(operator, workspace, answeredIds);
  await apply(parts);
  const first = await open({ telemetry, wrapStore, replace });
  return {
    ...first,
    key,
    simulator,
    testStore,
    logLines,
    open,
    apply,
    credit: (workspace = 'team') => operator.credit.show({ workspace, spendLimit: null }),
    records,
    async lastRecord() {
      await first.settled();
      return (await records()).at(-1);
    },
    async recordOf({ headers }) {
      await first.settled();
      const id = headers.get('x-request-id');
      return (await records()).find(({ correlationId }) => correlationId === id);
    },
    keyItem: async (text = key) => (await operator.keys.readItem(parseApiKey(text)?.publicId ?? '')) ?? {},
    stop: () => backends.stop(servers),
  };
}

function requestsTo(
  url: string,
  key: string,
  path = '/chat/completions',
): Pick<ServedGateway, 'post' | 'postTo' | 'get'> {
  const postTo: ServedGateway['postTo'] = (to, body, headers = {}, signal) =>
    sendRequest(url + to, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal,
    });
  return {
    postTo,
    post: (body, headers, signal) => postTo(path, body, headers, signal),
    get: (to, headers = {}) => sendRequest(url + to, { headers: { authorization: `Bearer ${key}`, ...headers } }),
  };
}

/** Returns the data lines of an event stream, the end marker included. */
export const dataLines = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));

/** Returns a request that any model can serve. */
export const hello = (model: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
});
