// What the stages may ask for. Types only; made once per process by the door.
import type { KeyMemory, KeyStore } from '../../shared/auth/index.ts';
import type { ConnectionReader } from '../../shared/byok/index.ts';
import type { CallRecords } from '../../shared/call-records/index.ts';
import type { CatalogueReader } from '../../shared/catalogue/index.ts';
import type { Cooldowns } from '../../shared/cooldowns/index.ts';
import type { CreditLedger } from '../../shared/credit/index.ts';
import type { IdempotencyStore } from '../../shared/idempotency/index.ts';
import type { Randomness } from '../../shared/ids/index.ts';
import type { ProviderLimiter } from '../../shared/limits/index.ts';
import type { Log } from '../../shared/log/index.ts';
import type { RecentNames } from '../../shared/memory/index.ts';
import type { CredentialSource, Transport } from '../../shared/providers/index.ts';
import type { ResponseCache } from '../../shared/response-cache/index.ts';
import type { SpanStore } from '../../shared/spans/index.ts';
import type { StatisticsReader, StatisticsRecorder } from '../../shared/statistics/index.ts';
import type { Store } from '../../shared/store/index.ts';
import type { FunctionReader } from '../../shared/stored-functions/index.ts';
import type { Clock } from '../../shared/time/index.ts';
import type { WorkspaceReader } from '../../shared/workspaces/index.ts';

export interface ChatDependencies {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: Store;
  readonly keys: Pick<KeyStore, 'read' | 'readItem'>;
  readonly keyMemory: KeyMemory;
  /** Keys and workspaces whose calls were refused: what their next calls take waits until it is known that they run. */
  readonly refusedLately: RecentNames;
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
