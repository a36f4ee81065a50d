// Declares the dependencies of the stages, picked from the dependencies of a process, which its entry point makes once.
import type { GatewayComposition } from '../../shared/composition/index.ts';

type SharedDependencies = Pick<
  GatewayComposition,
  | 'clock'
  | 'times'
  | 'randomness'
  | 'log'
  | 'store'
  | 'alerts'
  | 'memory'
  | 'telemetry'
  | 'blobs'
  | 'keyCache'
  | 'recentRefusals'
  | 'refusalQuota'
  | 'catalogue'
  | 'workspaces'
  | 'connections'
  | 'storeKey'
  | 'functions'
  | 'functionList'
  | 'counters'
  | 'slotPools'
  | 'callsUnderWay'
  | 'stageConcurrency'
  | 'keyRequestsPerMinute'
  | 'credit'
  | 'idempotency'
  | 'spans'
  | 'providerAffinity'
  | 'responseCache'
  | 'credentials'
  | 'credentialCheck'
  | 'transport'
  | 'limiter'
  | 'cooldowns'
  | 'recorder'
  | 'statistics'
>;

export interface GatewayDependencies extends SharedDependencies {
  readonly keys: Pick<GatewayComposition['keys'], 'read' | 'readItem'>;
  readonly records: Pick<GatewayComposition['records'], 'write' | 'find'>;
}
