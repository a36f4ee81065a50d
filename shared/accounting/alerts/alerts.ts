// Parts that a process gives to its alerts, and that a call gives to be looked at. Types only.
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Clock, Deadline } from '../../foundation/time/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import type { CreditHold, CreditPayments } from '../credit/index.ts';
import type { Counter } from '../holds/index.ts';
import type { Cooldowns } from '../provider-health/index.ts';

/** A charged counter, with its item afterwards; {} where that is unknown. */
export type ChargedCounter = { readonly item: Item } & (
  | { readonly of: 'key'; readonly publicId: string }
  | { readonly of: 'credit'; readonly hold: CreditHold; readonly actual: PicoUsd }
  | { readonly of: 'budget'; readonly counter: Counter; readonly workspace: string; readonly provider: string }
);

/** A call of a provider with a credential of the gateway. */
export interface EndedAttempt {
  readonly provider: string;
  /** Position of its credential, where the provider has several. */
  readonly credential: number | undefined;
  /** Names the credential in marks. */
  readonly account: string;
  readonly model: string;
  readonly startedAtMs: number;
  readonly outcome: 'ok' | 'refused' | 'empty' | 'failed';
  /** Whether plans of all workspaces ask it last now, for failures. */
  readonly coolsForAll: boolean;
}

interface EndedForAlerts {
  readonly charged: readonly ChargedCounter[];
  readonly attempts: readonly EndedAttempt[];
}

export interface AlertReceiver {
  /** Undefined where it is not set: nothing is sent. */
  readonly url: string | undefined;
  /** Key of the signature; null where none is wanted, undefined where it is not set: nothing is sent. */
  readonly secret: string | null | undefined;
}

interface AlertSettings {
  /** Shares in percent, rising. */
  readonly at: readonly number[];
  /** Asked where an alert is due. Throws where secrets could not be read. */
  readonly receiver: () => AlertReceiver;
}

export interface AlertsOptions {
  readonly store: Pick<Store, 'update'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'bytes'>;
  readonly log: Log;
  readonly credit: Pick<CreditPayments, 'show'>;
  readonly cooldowns: Pick<Cooldowns, 'noted'>;
  /** A process that is frozen after its call tries once, and waits for that. */
  readonly isFunction: boolean;
  /** Repeats a write while the store is unavailable. */
  readonly persist: (write: () => Promise<unknown>) => Promise<void>;
}

export interface Alerts {
  /** After the charges and attempts of a call. A function waits for what it sends, for some seconds of the deadline at most. Never rejects. */
  look(settings: AlertSettings, ended: EndedForAlerts, deadline: Deadline): Promise<void>;
  /** Waits for what is being sent, for a moment at most, and begins nothing more. Never rejects. */
  close(): Promise<void>;
}
