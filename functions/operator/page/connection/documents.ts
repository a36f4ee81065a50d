// What the management interface answers with, as far as the page shows it.
import type { operatorCallDocument } from '../../../../shared/accounting/call-records/index.ts';
import type {
  ManagedKey,
  ManagedProvider,
  Overview,
} from '../../../../shared/configuration/management-documents/index.ts';

export type {
  ManagedAddition as Addition,
  ManagedCases as Cases,
  ManagedFunction as StoredFunction,
  ManagedKey as Key,
  ManagedModel as Model,
  ManagedProvider as Provider,
  ManagedReplacement as Replacement,
  ManagedSession as Session,
  ManagedSwitch as Switched,
  ManagedWorkspace as Workspace,
  Overview,
  ShownManagedFunction as ShownFunction,
} from '../../../../shared/configuration/management-documents/index.ts';

export type Call = ReturnType<typeof operatorCallDocument>;

export interface Single<Value> {
  readonly data: Value;
}

export interface List<Value> {
  readonly data: readonly Value[];
  readonly next_cursor: string | null;
}

export type Figures = Overview['totals'];
/** One model at one provider. */
export type ProviderModel = ManagedProvider['models'][number];
export type Health = Omit<ProviderModel, 'model' | 'limits'>;
export type LimitUse = NonNullable<ProviderModel['limits']['rpm']>;
/** `key` is the text, which no other answer has. */
export type NewKey = ManagedKey & { readonly key: string };

export type Attempt = Call['attempts'][number];
