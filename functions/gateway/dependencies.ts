// What the stages may ask for. Types only; made once per process by the entry point.
import type { CallRecords, RefusalQuota } from '../../shared/accounting/call-records/index.ts';
import type { CreditLedger } from '../../shared/accounting/credit/index.ts';
import type { Counters } from '../../shared/accounting/holds/index.ts';
import type { IdempotencyStore, SpanStore } from '../../shared/accounting/idempotency/index.ts';
import type { ResponseCache } from '../../shared/accounting/response-cache/index.ts';
import type { ConnectionReader } from '../../shared/configuration/byok/index.ts';
import type { CatalogueReader } from '../../shared/configuration/catalogue/index.ts';
import type { KeyStore } from '../../shared/configuration/keys/index.ts';
import type { FunctionList, FunctionReader } from '../../shared/configuration/stored-functions/index.ts';
import type { WorkspaceReader } from '../../shared/configuration/workspaces/index.ts';
import type { Cache } from '../../shared/foundation/cache/index.ts';
import type { CallTimes } from '../../shared/foundation/constants/index.ts';
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Log } from '../../shared/foundation/log/index.ts';
import type { ProviderMetricsDependencies } from '../../shared/routing/provider-metrics/index.ts';
import type { CredentialCheck, Transport } from '../../shared/routing/providers/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';

export interface ChatDependencies extends ProviderMetricsDependencies {
  readonly times: CallTimes;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: Store;
  readonly keys: Pick<KeyStore, 'read' | 'readItem'>;
  readonly keyCache: Cache<Item>;
  /** Keys and workspaces that were refused lately: their next calls reserve in two rounds. */
  readonly recentRefusals: Cache<true>;
  /** Which refused calls leave a record. */
  readonly refusalQuota: RefusalQuota;
  readonly catalogue: CatalogueReader;
  readonly workspaces: WorkspaceReader;
  readonly connections: ConnectionReader;
  readonly functions: FunctionReader;
  readonly functionList: FunctionList;
  readonly counters: Counters;
  readonly credit: CreditLedger;
  readonly idempotency: IdempotencyStore;
  readonly spans: SpanStore;
  readonly responseCache: ResponseCache;
  readonly records: Pick<CallRecords, 'write' | 'find'>;
  readonly credentialCheck: CredentialCheck;
  readonly transport: Transport;
}
