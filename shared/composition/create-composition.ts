// The real dependencies of a gateway process, put together once: for the two Lambda handlers and for the local run.

import { type CallRecords, createCallRecords } from '../accounting/call-records/index.ts';
import { type CreditLedger, createCreditLedger } from '../accounting/credit/index.ts';
import { type Counters, createCounters } from '../accounting/holds/index.ts';
import {
  createIdempotencyStore,
  createSpanStore,
  type IdempotencyStore,
  type SpanStore,
} from '../accounting/idempotency/index.ts';
import { createProviderLimiter, type ProviderLimiter } from '../accounting/limits/index.ts';
import {
  type Cooldowns,
  createCooldowns,
  createStatisticsReader,
  createStatisticsRecorder,
  type StatisticsReader,
  type StatisticsRecorder,
} from '../accounting/provider-health/index.ts';
import { createResponseCache, type ResponseCache } from '../accounting/response-cache/index.ts';
import {
  type ConnectionReader,
  type ConnectionStore,
  createConnectionReader,
  createConnectionStore,
  createKeyVault,
  type KeyWrapper,
} from '../configuration/byok/index.ts';
import {
  type CatalogueReader,
  type CatalogueStore,
  createCatalogueReader,
  createCatalogueStore,
} from '../configuration/catalogue/index.ts';
import { createKeyStore, type KeyStore } from '../configuration/keys/index.ts';
import {
  createFunctionReader,
  createFunctionStore,
  type FunctionReader,
  type FunctionStore,
} from '../configuration/stored-functions/index.ts';
import {
  createWorkspaceReader,
  createWorkspaceStore,
  type WorkspaceReader,
  type WorkspaceStore,
} from '../configuration/workspaces/index.ts';
import { type Cache, createCache } from '../foundation/cache/index.ts';
import { type CallTimes, cachedKeysMax, callTimes, recentRefusalMs } from '../foundation/constants/index.ts';
import type { Environment } from '../foundation/environment/index.ts';
import { type Randomness, systemRandomness } from '../foundation/ids/index.ts';
import { createLog, type Log } from '../foundation/log/index.ts';
import { type Clock, systemClock } from '../foundation/time/index.ts';
import { type CredentialSource, createTransport, type Transport } from '../routing/providers/index.ts';
import type { BlobStore } from '../storage/blobs/index.ts';
import { createDynamoClient, createDynamoStore, type Item, type Store } from '../storage/store/index.ts';

/** Everything that the stages of both functions may use. */
export interface Composition {
  readonly clock: Clock;
  readonly times: CallTimes;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: Store;
  readonly keys: KeyStore;
  /** Saves the read of a key. It never decides: the write that admits a call compares it with the item. */
  readonly keyCache: Cache<Item>;
  readonly recentRefusals: Cache<true>;
  readonly catalogues: CatalogueStore;
  readonly catalogue: CatalogueReader;
  readonly workspaceStore: WorkspaceStore;
  readonly workspaces: WorkspaceReader;
  readonly connectionStore: ConnectionStore;
  readonly connections: ConnectionReader;
  readonly functionStore: FunctionStore;
  readonly functions: FunctionReader;
  readonly counters: Counters;
  readonly credit: CreditLedger;
  readonly idempotency: IdempotencyStore;
  readonly spans: SpanStore;
  readonly responseCache: ResponseCache;
  readonly records: CallRecords;
  readonly credentials: CredentialSource;
  readonly transport: Transport;
  readonly limiter: ProviderLimiter;
  readonly cooldowns: Cooldowns;
  readonly statistics: StatisticsReader;
  readonly recorder: StatisticsRecorder;
  readonly originSecretHashes: readonly string[];
}

export interface CompositionOptions {
  readonly environment: Environment;
  /** What stands outside the store: where large results, wrapped keys and provider credentials are. */
  readonly blobs: BlobStore;
  readonly wrapper: KeyWrapper;
  readonly credentials: CredentialSource;
  /** URL of a DynamoDB-compatible server; absent: what the process is configured for. */
  readonly dynamodbUrl?: string | undefined;
  readonly clock?: Clock | undefined;
  /** In place of JSON lines on standard output. */
  readonly log?: Log | undefined;
  /** In place of the DynamoDB store. */
  readonly store?: Store | undefined;
}

export function createComposition(options: CompositionOptions): Composition {
  const { environment, dynamodbUrl, clock = systemClock, blobs, wrapper, credentials } = options;
  const randomness = systemRandomness;
  const times = callTimes(environment.streamBudgetSeconds);
  const { stage } = environment;
  const store = options.store ?? createDynamoStore({ client: createDynamoClient({ endpoint: dynamodbUrl }), stage });
  const log = options.log ?? createLog({ clock, stage, level: environment.logLevel });
  const logFailure = (event: string) => (cause: unknown) => log.error({ event }, cause);
  const counters = createCounters({ store, clock, randomness, leaseMs: times.leaseMs });
  const vault = createKeyVault({ wrapper, stage, clock, randomness });
  const connectionStore = createConnectionStore(store, vault);
  const functionStore = createFunctionStore(store);
  const catalogues = createCatalogueStore(store);
  const workspaceStore = createWorkspaceStore(store);
  return {
    clock,
    times,
    randomness,
    log,
    store,
    keys: createKeyStore(store),
    keyCache: createCache<Item>({ sizeMax: cachedKeysMax, clock }),
    recentRefusals: createCache<true>({ sizeMax: cachedKeysMax, freshMs: recentRefusalMs, clock }),
    catalogues,
    catalogue: createCatalogueReader({ catalogues, clock }),
    workspaceStore,
    workspaces: createWorkspaceReader({ workspaces: workspaceStore, clock }),
    connectionStore,
    connections: createConnectionReader({ connections: connectionStore, vault, clock }),
    functionStore,
    functions: createFunctionReader({ functions: functionStore, clock }),
    counters,
    credit: createCreditLedger({ store, counters, randomness }),
    idempotency: createIdempotencyStore({ store, blobs }),
    spans: createSpanStore(store, clock),
    responseCache: createResponseCache({ store, onError: logFailure('response_cache_failed') }),
    records: createCallRecords({ store }),
    credentials,
    transport: createTransport(clock),
    limiter: createProviderLimiter({ writer: counters.writer, clock, randomness }),
    cooldowns: createCooldowns({ store, clock }),
    statistics: createStatisticsReader({ store, clock, onFailure: logFailure('statistics_not_read') }),
    recorder: createStatisticsRecorder({ store, clock, randomness, onFailure: logFailure('statistics_lost') }),
    originSecretHashes: environment.originSecretHashes,
  };
}
