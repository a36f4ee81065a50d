// Declares the dependencies of the operator function. The entry point, or the local run, makes them once per process.
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
  /** Stores connections. Their keys stay encrypted, because this function decrypts no key and stores no key. */
  readonly connectionStore: ConnectionStore;
  readonly statistics: StatisticsReader;
  /** Store of the bodies of calls. */
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly cooldowns: Pick<Cooldowns, 'refresh' | 'coolingFor' | 'lastFailure' | 'noted' | 'unreached'>;
  /**
   * Finds credentials. Absent if this process may not read credentials. No provider is then reported as lacking a
   * credential.
   */
  readonly credentials?: { find(provider: ProviderDocument): unknown } | undefined;
}

export interface OperatorDependencies extends ManagementDependencies, RouterDependencies {
  /** Absent if only operator keys open the management interface. */
  readonly signIn?: SignIn | undefined;
}
