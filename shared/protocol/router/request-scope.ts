// Properties of a request that every stage may use. Types only.
import type { ErrorFormat, GatewayError } from '../../errors/index.ts';
import type { BasePath } from '../../foundation/constants/index.ts';
import type { Trace } from '../../foundation/telemetry/index.ts';
import type { Correlation } from '../http/index.ts';
import type { CallMemory } from '../memory-budget/index.ts';
import type { BaseUrlRules } from './base-url-rules.ts';
import type { DeferredTasks } from './deferred-tasks.ts';
import type { RequestDetails } from './request-details.ts';

export interface RequestScope {
  /** Base path that the client uses. */
  readonly basePath: BasePath;
  readonly baseUrlRules: BaseUrlRules;
  /** Values of each `*` of the route, decoded. */
  readonly pathParameters: readonly string[];
  /** Format of the request's errors, which its base URL determines, or a header. */
  readonly errorFormat: ErrorFormat;
  /** UUIDv7: `correlation_id` of an error, `x-request-id` of every answer, and the execution id of an admitted call. */
  readonly correlationId: string;
  readonly correlation: Correlation;
  /** The error invalid_correlation, for the stage that checks it. */
  readonly correlationFault: GatewayError | undefined;
  readonly clientGone: AbortSignal;
  /** Called once the key of the request exists. Undefined if the server has no connections to bound. */
  readonly keyFound?: (() => void) | undefined;
  /** Aborts when the ending process waits no longer. Undefined if a process never does. */
  readonly cut: AbortSignal | undefined;
  /**
   * Time at which the runtime ends this request, by which settlement must be over. Undefined if the runtime never ends
   * it.
   */
  readonly endsAtMs: number | undefined;
  /** Trace of the request; undefined when telemetry is off. */
  readonly trace: Trace | undefined;
  /** Memory of this request, and of its answer until it is sent. */
  readonly memory: CallMemory;
  readonly deferred: DeferredTasks;
  /** Resolves when the deferred work of earlier answers of this process is done, or after a second. */
  readonly earlierSettled: () => Promise<void>;
  readonly details: RequestDetails;
}
