// Facts about a request that every stage may use. Types only.
import type { ErrorFormat, GatewayError } from '../../errors/index.ts';
import type { BasePath } from '../../foundation/constants/index.ts';
import type { Trace } from '../../foundation/telemetry/index.ts';
import type { Correlation } from '../http/index.ts';
import type { CallMemory } from '../memory-budget/index.ts';
import type { BaseUrlRules } from './base-url-rules.ts';
import type { DeferredTasks } from './deferred-tasks.ts';
import type { RequestDetails } from './request-details.ts';

export interface RequestScope {
  /** Base URL that the client uses. */
  readonly basePath: BasePath;
  readonly baseUrlRules: BaseUrlRules;
  /** Values of each `*` of the route, decoded. */
  readonly pathParameters: readonly string[];
  /** Form of its errors: that of its base URL, or the one that a header asks for. */
  readonly errorFormat: ErrorFormat;
  /** UUIDv7: `correlation_id` of an error, `x-request-id` of every answer, and the execution id of an admitted call. */
  readonly correlationId: string;
  readonly correlation: Correlation;
  /** invalid_correlation, for the stage that checks it. */
  readonly correlationFault: GatewayError | undefined;
  readonly clientGone: AbortSignal;
  /** To be called once the key of the request exists. Undefined where the server has no connections to bound. */
  readonly keyFound?: (() => void) | undefined;
  /** Aborts when the process ends and waits no longer. Undefined where it never does. */
  readonly cut: AbortSignal | undefined;
  /** Time at which the runtime ends this request: settlement must be over before. Undefined where nothing does. */
  readonly endsAtMs: number | undefined;
  /** Undefined when telemetry is off. */
  readonly trace: Trace | undefined;
  /** Memory of this request, and of its answer until that is sent. */
  readonly memory: CallMemory;
  readonly deferred: DeferredTasks;
  /** Resolves when the deferred work of earlier answers is done in this process, or after a second. */
  readonly earlierSettled: () => Promise<void>;
  readonly details: RequestDetails;
}
