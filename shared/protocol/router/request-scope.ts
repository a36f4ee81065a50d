// What a request carries through all stages. Types only.

import type { GatewayError } from '../../errors/index.ts';
import type { LogFields, Metrics } from '../../foundation/log/index.ts';
import type { Correlation } from '../http/index.ts';
import type { Afterwards } from './afterwards.ts';

/** Filled by the stages while they work; nothing in it is text of a prompt or an answer. */
export interface Learnt {
  fields: LogFields;
  metrics: Record<string, Metrics['values'][string]>;
}

/** What every stage may know of the request it serves. */
export interface RequestScope {
  /** UUID: `correlation_id` of an error, `x-request-id` of every answer. */
  readonly correlationId: string;
  readonly correlation: Correlation;
  /** invalid_correlation, for the stage whose turn it is (contract 5). */
  readonly correlationFault: GatewayError | undefined;
  readonly clientGone: AbortSignal;
  readonly afterwards: Afterwards;
  /** What the stages learn for the one log line of the request. */
  readonly learnt: Learnt;
}
