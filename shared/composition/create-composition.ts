// The real dependencies of a process that serves calls, put together once: for its Lambda handler and for the local run.

import {
  type CallRecords,
  createCallRecords,
  createRefusalQuota,
  type RefusalQuota,
} from '../accounting/call-records/index.ts';
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
  createStatisticsRecorder,
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
  createFunctionReader,
  createFunctionStore,
  type FunctionReader,
  type FunctionStore,
} from '../configuration/stored-functions/index.ts';
import { type Cache, createCache } from '../foundation/cache/index.ts';
import { cachedKeysMax, recentRefusalMs } from '../foundation/constants/index.ts';
import {
  type CheckedCredentials,
  type CredentialCheck,
  type CredentialSource,
  createCredentialCheck,
  createTransport,
  type Transport,
} from '../routing/providers/index.ts';
import type { BlobStore } from '../storage/blobs/index.ts';
import type { Item } from '../storage/store/index.ts';
import { createTableReaders, type TableReaders, type TableReadersOptions } from './create-table-readers.ts';

/** Everything that the stages of a call may use. */
export interface Composition extends TableReaders {
  /** Saves the read of a key. It never decides: the write that admits a call compares it with the item. */
  readonly keyCache: Cache<Item>;
  readonly recentRefusals: Cache<true>;
  readonly refusalQuota: RefusalQuota;
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
  readonly credentialCheck: CredentialCheck;
  readonly transport: Transport;
  readonly limiter: ProviderLimiter;
  readonly cooldowns: Cooldowns;
  readonly recorder: StatisticsRecorder;
}

export interface CompositionOptions extends TableReadersOptions {
  /** What stands outside the store: where large results, wrapped keys and provider credentials are. */
  readonly blobs: BlobStore;
  readonly wrapper: KeyWrapper;
  readonly credentials: CredentialSource;
  /** Told which providers have their credential, at the start and whenever the catalogue has changed. */
  readonly onCredentialsChecked?: ((checked: CheckedCredentials) => void) | undefined;
}

export function createComposition(options: CompositionOptions): Composition {
  const { environment, blobs, wrapper, credentials, onCredentialsChecked: onChecked } = options;
  const readers = createTableReaders(options);
  const { clock, times, randomness, log, store } = readers;
  const logFailure = (event: string) => (cause: unknown) => log.error({ event }, cause);
  const counters = createCounters({ store, clock, randomness, leaseMs: times.leaseMs });
  const vault = createKeyVault({ wrapper, stage: environment.stage, clock, randomness });
  const connectionStore = createConnectionStore(store, vault);
  const functionStore = createFunctionStore(store);
  return {
    ...readers,
    keyCache: createCache<Item>({ sizeMax: cachedKeysMax }),
    recentRefusals: createCache<true>({ sizeMax: cachedKeysMax, age: { freshMs: recentRefusalMs, clock } }),
    refusalQuota: createRefusalQuota(clock),
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
    credentialCheck: createCredentialCheck({ credentials, log, onChecked }),
    transport: createTransport(clock),
    limiter: createProviderLimiter({ writer: counters.writer, clock, randomness }),
    cooldowns: createCooldowns({ store, clock }),
    recorder: createStatisticsRecorder({ store, clock, randomness, onFailure: logFailure('statistics_lost') }),
  };
}
