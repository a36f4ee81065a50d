// Creates the real dependencies of a process that serves calls, once. Operators' changes are in create-composition.ts,
// so that the bundle of the gateway does not contain their code.
import { type Alerts, createAlerts } from '../accounting/alerts/index.ts';
import {
  type CallRecords,
  createCallRecords,
  createRefusalQuota,
  type RefusalQuota,
} from '../accounting/call-records/index.ts';
import { type CreditPayments, createCreditPayments } from '../accounting/credit/index.ts';
import { type Counters, createCounters } from '../accounting/holds/index.ts';
import {
  createIdempotencyStore,
  createSpanStore,
  type IdempotencyStore,
  type SpanStore,
} from '../accounting/idempotency/index.ts';
import { createProviderLimiter } from '../accounting/limits/index.ts';
import { createProviderAffinity, type ProviderAffinity } from '../accounting/provider-affinity/index.ts';
import { createCooldowns, createStatisticsRecorder } from '../accounting/provider-health/index.ts';
import { createResponseCache, type ResponseCache } from '../accounting/response-cache/index.ts';
import { type CallsUnderWay, createCallsUnderWay, createSlotPools, type SlotPools } from '../accounting/slots/index.ts';
import {
  type ConnectionReader,
  createConnectionReader,
  createKeyVault,
  type KeyWrapper,
} from '../configuration/byok/index.ts';
import { createStoreKey, type StoreKey } from '../configuration/store-key/index.ts';
import {
  createFunctionReader,
  createFunctionReads,
  type FunctionReader,
} from '../configuration/stored-functions/index.ts';
import { type Cache, createCache } from '../foundation/cache/index.ts';
import { cachedKeysMax, recentRefusalMs } from '../foundation/constants/index.ts';
import type { ProviderMetricsDependencies } from '../routing/provider-metrics/index.ts';
import {
  type CheckedCredentials,
  type CredentialCheck,
  type CredentialSource,
  createCredentialCheck,
  createTransport,
  type Transport,
} from '../routing/providers/index.ts';
import type { BlobStore } from '../storage/blobs/index.ts';
import { type Item, retryWrite } from '../storage/store/index.ts';
import { createTableReaders, type TableReaders, type TableReadersOptions } from './create-table-readers.ts';

/**
 * Longest time for which charges wait to share a write. A crash loses at most these charges, and their reservations
 * expire.
 */
const busyGatherMs = 50;
/** Delay of counts that no caller waits for, because they are read every half minute. */
const statisticsGatherMs = 1_000;
/**
 * Number of calls per sample in a deployed stage, if a call that arrives alone would write its counts alone. For a
 * thousand calls, figures from a hundred are as good.
 */
const callsPerSample = 10;

/**
 * All dependencies of a process that serves calls. This is the only list of them. The stages of a call pick from it.
 */
export interface GatewayComposition extends TableReaders, ProviderMetricsDependencies {
  readonly alerts: Alerts;
  readonly credit: CreditPayments;
  readonly records: CallRecords;
  /** Storage of large results and of the bodies of calls. */
  readonly blobs: BlobStore;
  /**
   * Cache that saves the read of a key. The cache never decides, because the write that admits a call compares it with
   * the item.
   */
  readonly keyCache: Cache<Item>;
  /**
   * Recently refused keys and workspaces. Their calls wait for the answer to a reservation before they make later
   * reservations.
   */
  readonly recentRefusals: Cache<true>;
  /** Decides which refused calls leave a record. */
  readonly refusalQuota: RefusalQuota;
  readonly connections: ConnectionReader;
  readonly storeKey: StoreKey;
  readonly functions: FunctionReader;
  readonly counters: Counters;
  readonly slotPools: SlotPools;
  readonly callsUnderWay: CallsUnderWay;
  /** Concurrent calls of the stage; undefined when unbounded. */
  readonly stageConcurrency: number | undefined;
  /** Requests per minute of keys without a limit of their own; undefined for none. */
  readonly keyRequestsPerMinute: number | undefined;
  readonly idempotency: IdempotencyStore;
  readonly spans: SpanStore;
  readonly providerAffinity: ProviderAffinity;
  readonly responseCache: ResponseCache;
  readonly credentialCheck: CredentialCheck;
  readonly transport: Transport;
}

export interface CompositionOptions extends TableReadersOptions {
  /** Adapters outside the store: places of large results, wrapped keys and provider credentials. */
  readonly blobs: BlobStore;
  readonly wrapper: KeyWrapper;
  readonly credentials: CredentialSource;
  /**
   * Set if all writes of one turn of the event loop cost the store one transaction, so that waiting for more saves
   * nothing. Default: false.
   */
  readonly joinsWrites?: boolean | undefined;
  /** Called with the providers whose credential is present, at the start and whenever the catalogue has changed. */
  readonly onCredentialsChecked?: ((checked: CheckedCredentials) => void) | undefined;
}

export function createGatewayComposition(options: CompositionOptions): GatewayComposition {
  const { environment, blobs, wrapper, credentials, joinsWrites = false, onCredentialsChecked: onChecked } = options;
  const readers = createTableReaders(options);
  const { clock, times, randomness, log, store, memory } = readers;
  const logFailure = (event: string) => (cause: unknown) => log.error({ event }, cause);
  const { keyRequestsPerMinute, isFunction = false } = environment;
  const callsUnderWay = createCallsUnderWay();
  const gathering = joinsWrites ? undefined : { clock, gatherMs: () => (callsUnderWay.isBusy() ? busyGatherMs : 0) };
  // A function does not delay counts, because it is frozen after its call; and neither does a store that joins writes,
  // if a further write costs nothing.
  const gathersStatistics = () => callsUnderWay.isBusy() || !(isFunction || joinsWrites);
  const { holdLifeMs } = times;
  const counters = createCounters({
    ...{ store, clock, randomness, holdLifeMs, keyRequestsPerMinute, gathering },
    sharesCharges: !(isFunction || joinsWrites),
  });
  const vault = createKeyVault({ wrapper, stage: environment.stage, clock, randomness });
  const credit = createCreditPayments({ store, clock, counters, randomness });
  const cooldowns = createCooldowns({ store, clock });
  const persist = (write: () => Promise<unknown>) => retryWrite(clock, write);
  return {
    ...readers,
    alerts: createAlerts({ store, clock, randomness, log, credit, cooldowns, isFunction, persist }),
    keyCache: createCache<Item>({ sizeMax: cachedKeysMax }),
    recentRefusals: createCache<true>({ sizeMax: cachedKeysMax, age: { freshMs: recentRefusalMs, clock } }),
    refusalQuota: createRefusalQuota(clock),
    connections: createConnectionReader(readers.connections, vault),
    storeKey: createStoreKey({ store, wrapper, stage: environment.stage, clock, randomness }),
    functions: createFunctionReader({ functions: createFunctionReads(store), clock }),
    counters,
    slotPools: createSlotPools({ counters, clock, randomness }),
    callsUnderWay,
    stageConcurrency: environment.stageConcurrency,
    keyRequestsPerMinute,
    credit,
    blobs,
    idempotency: createIdempotencyStore({ store, blobs }),
    spans: createSpanStore(store, clock),
    providerAffinity: createProviderAffinity(store, clock),
    responseCache: createResponseCache({ store, memory, onError: logFailure('response_cache_failed') }),
    records: createCallRecords({ store, gathering }),
    credentials,
    credentialCheck: createCredentialCheck({ credentials, log, onChecked }),
    transport: createTransport(clock),
    limiter: createProviderLimiter({ writer: counters.writer, clock, randomness }),
    cooldowns,
    recorder: createStatisticsRecorder({
      store,
      clock,
      randomness,
      onFailure: logFailure('statistics_lost'),
      gathering: { clock, gatherMs: () => (gathersStatistics() ? statisticsGatherMs : 0) },
      callsPerSample: isFunction || environment.stageConcurrency !== undefined ? callsPerSample : 1,
    }),
  };
}
