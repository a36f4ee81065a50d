// Dependencies of the operator function. Types only; the entry point, or the local run, makes them once per process.
import type { Cooldowns, StatisticsReader } from '../../shared/accounting/provider-health/index.ts';
import type { AdministrationDependencies } from '../../shared/configuration/administration/index.ts';
import type { ConnectionStore } from '../../shared/configuration/byok/index.ts';
import type { ProviderDocument } from '../../shared/configuration/catalogue/index.ts';
import type { RouterDependencies } from '../../shared/protocol/router/index.ts';
import type { BlobStore } from '../../shared/storage/blobs/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import type { SignIn } from './sign-in/index.ts';

/** Dependencies for reads and changes. */
export interface ManagementDependencies extends AdministrationDependencies {
  readonly store: Pick<Store, 'get' | 'put'>;
  /** Stores connections. Their keys stay encrypted: none is decrypted or stored here. */
  readonly connectionStore: ConnectionStore;
  readonly statistics: StatisticsReader;
  /** Store of the bodies of calls. */
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly cooldowns: Pick<Cooldowns, 'refresh' | 'coolingFor' | 'lastFailure' | 'noted' | 'unreached'>;
  /** Finds credentials. Absent where this process may not read them: then no provider is reported to lack its own. */
  readonly credentials?: { find(provider: ProviderDocument): unknown } | undefined;
}

export interface OperatorDependencies extends ManagementDependencies, RouterDependencies {
  /** Absent when only operator keys open the management interface. */
  readonly signIn?: SignIn | undefined;
}
