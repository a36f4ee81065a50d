// What the stages may ask for. Types only; made once per process by the door.

import type { CallRecords } from '../../shared/accounting/call-records/index.ts';
import type { CreditLedger } from '../../shared/accounting/credit/index.ts';
import type { IdempotencyStore, SpanStore } from '../../shared/accounting/idempotency/index.ts';
import type { ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import type { Cooldowns, StatisticsReader, StatisticsRecorder } from '../../shared/accounting/provider-health/index.ts';
import type { ResponseCache } from '../../shared/accounting/response-cache/index.ts';
import type { ConnectionReader } from '../../shared/configuration/byok/index.ts';
import type { CatalogueReader } from '../../shared/configuration/catalogue/index.ts';
import type { KeyStore } from '../../shared/configuration/keys/index.ts';
import type { FunctionReader } from '../../shared/configuration/stored-functions/index.ts';
import type { WorkspaceReader } from '../../shared/configuration/workspaces/index.ts';
import type { Cache } from '../../shared/foundation/cache/index.ts';
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Log } from '../../shared/foundation/log/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { CredentialSource, Transport } from '../../shared/routing/providers/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';

export interface ChatDependencies {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: Store;
  readonly keys: Pick<KeyStore, 'read' | 'readItem'>;
  readonly keyCache: Cache<Item>;
  /** Keys and workspaces whose calls were refused: what their next calls take waits until it is known that they run. */
  readonly refusedLately: Cache<true>;
  readonly catalogue: CatalogueReader;
  readonly workspaces: WorkspaceReader;
  readonly connections: ConnectionReader;
  readonly functions: FunctionReader;
  readonly credit: CreditLedger;
  readonly idempotency: IdempotencyStore;
  readonly spans: SpanStore;
  readonly responseCache: ResponseCache;
  readonly records: Pick<CallRecords, 'write'>;
  readonly credentials: CredentialSource;
  readonly transport: Transport;
  readonly limiter: ProviderLimiter;
  readonly cooldowns: Cooldowns;
  readonly statistics: StatisticsReader;
  readonly recorder: StatisticsRecorder;
}
