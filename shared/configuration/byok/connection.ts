// A stored BYOK connection: the workspace's own credential at one provider (spec 5.6, contract 9).
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { SealedKey } from './key-vault.ts';

/** always: plain calls may use stored connections only. allowed: used when its provider is chosen. */
export type ConnectionPolicy = 'always' | 'allowed';

export interface Connection {
  readonly workspace: string;
  /** Names the connection: a workspace has at most one per provider. */
  readonly provider: string;
  readonly policy: ConnectionPolicy;
  /** Cap on all that is spent through it; null: none. */
  readonly budgetPicoUsd: PicoUsd | null;
  /** Undefined: its key was never there when the file was applied. The policy holds all the same, but nobody is served. */
  readonly sealed: SealedKey | undefined;
}
