// Defines the dependencies of alerts, and the values of a call that alerts examine. Types only.
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Clock, Deadline } from '../../foundation/time/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import type { CreditHold, CreditPayments } from '../credit/index.ts';
import type { Counter } from '../holds/index.ts';
import type { Cooldowns } from '../provider-health/index.ts';

/** A charged counter with its item after the charge; {} if the item is unknown. */
export type ChargedCounter = { readonly item: Item } & (
  | { readonly kind: 'key'; readonly publicId: string }
  | { readonly kind: 'credit'; readonly hold: CreditHold; readonly actual: PicoUsd }
  | { readonly kind: 'budget'; readonly counter: Counter; readonly workspace: string; readonly provider: string }
);

/** A call of a provider with a credential of the gateway. */
export interface EndedAttempt {
  readonly provider: string;
  /** Position of the credential, if the provider has several. */
  readonly credential: number | undefined;
  /** Name of the credential in marks. */
  readonly account: string;
  readonly model: string;
  readonly startedAtMs: number;
  readonly outcome: 'ok' | 'refused' | 'empty' | 'failed';
  /** True if the provider is now the last choice of all workspaces' plans, because of failures. */
  readonly coolsForAll: boolean;
}

interface EndedForAlerts {
  readonly charged: readonly ChargedCounter[];
  readonly attempts: readonly EndedAttempt[];
}

export interface AlertReceiver {
  /** URL; undefined if it is not set, and nothing is sent. */
  readonly url: string | undefined;
  /** Key of the signature; null if none is required, undefined if it is not set, and nothing is sent. */
  readonly secret: string | null | undefined;
}

interface AlertSettings {
  /** Shares in percent, in rising order. */
  readonly at: readonly number[];
  /** Returns the receiver; called when an alert is due. Throws if secrets could not be read. */
  readonly receiver: () => AlertReceiver;
}

export interface AlertsOptions {
  readonly store: Pick<Store, 'update'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'bytes'>;
  readonly log: Log;
  readonly credit: Pick<CreditPayments, 'show'>;
  readonly cooldowns: Pick<Cooldowns, 'noted'>;
  /** True in a process that is frozen after its call, which tries once, and waits for that try. */
  readonly isFunction: boolean;
  /** Repeats a write while the store is unavailable. */
  readonly persist: (write: () => Promise<unknown>) => Promise<void>;
}

export interface Alerts {
  /**
   * Finds and sends due alerts, after the charges and attempts of a call. A function waits for them, for some seconds
   * of the deadline at most. Never rejects.
   */
  look(settings: AlertSettings, ended: EndedForAlerts, deadline: Deadline): Promise<void>;
  /** Waits for running tries, for a moment at most, and begins nothing more. Never rejects. */
  close(): Promise<void>;
}
