// What the stages find out of a request, for its log line, its span and its metrics. Nothing in it is text of a prompt or an
// answer. Types only.
import type { ErrorCode } from '../../errors/index.ts';
import type { LogFields, Metrics } from '../../foundation/log/index.ts';
import type { Tags } from '../wire/index.ts';

export interface RequestDetails {
  /** Whose key it has. */
  caller?: { readonly workspace: string; readonly keyId: string; readonly keyName: string };
  operator?: { readonly id: string; readonly name: string };
  /** What an operator has changed. */
  change?: { readonly what: string; readonly target: string };
  /** Of a call of a model, from its record. */
  call?: CallDetails;
}

export interface CallDetails {
  /** Undefined: as its answer says. */
  readonly outcome?: string;
  /** Why its stream was cut. */
  readonly cutCode?: ErrorCode | undefined;
  readonly provider?: string | undefined;
  readonly attempts?: number;
  readonly tags: Tags | undefined;
  /** Of the log line alone. */
  readonly fields: LogFields;
  readonly metrics?: Metrics['values'];
}
