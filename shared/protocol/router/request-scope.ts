// What every stage may know of the request it serves. Types only.
import type { GatewayError } from '../../errors/index.ts';
import type { LogFields, Metrics } from '../../foundation/log/index.ts';
import type { Correlation } from '../http/index.ts';
import type { DeferredTasks } from './deferred-tasks.ts';

/** Fields and metrics of the request's log line, added by the stages. Nothing in it is text of a prompt or an answer. */
export interface LogContext {
  fields: LogFields;
  metrics: Record<string, Metrics['values'][string]>;
}

export interface RequestScope {
  /** UUID: `correlation_id` of an error, `x-request-id` of every answer. */
  readonly correlationId: string;
  readonly correlation: Correlation;
  /** invalid_correlation, for the stage that checks it (contract 5). */
  readonly correlationFault: GatewayError | undefined;
  readonly clientGone: AbortSignal;
  readonly deferred: DeferredTasks;
  readonly logContext: LogContext;
}
