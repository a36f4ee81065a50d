// What the operator function works on. Types only; made once per process by the entry point, or by the local run.
import type { Cooldowns, StatisticsReader } from '../../shared/accounting/provider-health/index.ts';
import type { AdministrationDependencies } from '../../shared/configuration/administration/index.ts';
import type { ConnectionStore } from '../../shared/configuration/byok/index.ts';
import type { ProviderDocument } from '../../shared/configuration/catalogue/index.ts';
import type { RouterDependencies } from '../../shared/protocol/router/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import type { SignIn } from './sign-in/index.ts';

/** What requests read and change. */
export interface ManagementDependencies extends AdministrationDependencies {
  readonly store: Pick<Store, 'get' | 'put'>;
  /** Its keys stay sealed: none is opened here, and none is stored. */
  readonly connectionStore: ConnectionStore;
  readonly statistics: StatisticsReader;
  readonly cooldowns: Pick<Cooldowns, 'refresh' | 'coolingFor' | 'lastFailure'>;
  /** Left out where credentials are not for this process to read: then no provider is said to lack its own. */
  readonly credentials?: { find(provider: ProviderDocument): unknown } | undefined;
}

export interface OperatorDependencies extends ManagementDependencies, RouterDependencies {
  /** Left out: only operator keys open the management interface. */
  readonly signIn?: SignIn | undefined;
}
