// Declares the answers of the management interface that the page shows.
import type { Documents } from '../../../../shared/configuration/management/index.ts';

export type Choices = Documents['ManagedChoices'];
export type Cases = Documents['ManagedCases'];
export type StoredFunction = Documents['ManagedFunction'];
export type Key = Documents['ManagedKey'];
export type Model = Documents['ManagedModel'];
export type Provider = Documents['ManagedProvider'];
export type Replacement = Documents['ManagedReplacement'];
export type ManagedSession = Documents['ManagedSession'];
export type Workspace = Documents['ManagedWorkspace'];
export type Overview = Documents['ManagedOverview'];
export type ShownFunction = Documents['ShownFunction'];
export type ManagedOperator = Documents['ManagedOperator'];
/** `key` is the text of the key, which no other answer contains. */
export type NewKey = Documents['NewKey'];
export type NewOperator = Documents['NewOperator'];
export type ManagedCall = Documents['ManagedCall'];
export type ShownContent = Documents['ManagedContent'];

export interface List<Value> {
  readonly data: readonly Value[];
  readonly next_cursor: string | null;
}

export type CallTotals = Overview['totals'];
export type ProviderModel = Provider['models'][number];
export type Health = Omit<ProviderModel, 'model' | 'credential' | 'limits'>;
export type LimitUse = NonNullable<ProviderModel['limits']['rpm']>;
