// Defines details that the stages collect about a request, for its log line, its span and its metrics. They contain no
// text of a prompt or an answer. Types only.
import type { ErrorCode } from '../../errors/index.ts';
import type { LogFields, Metrics } from '../../foundation/log/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Tags } from '../wire/index.ts';

export interface RequestDetails {
  /** The key of the request. */
  caller?: { readonly workspace: string; readonly keyId: string; readonly keyName: string };
  operator?: { readonly id: string; readonly name: string };
  /** The change that an operator made. */
  change?: { readonly what: string; readonly target: string };
  /** Details of a model call, from its record. */
  call?: CallDetails;
  /** Checks of guardrails so far, in their order. */
  guardrailChecks?: GuardrailCheck[];
}

/** One check of some texts by one guardrail. */
export interface GuardrailCheck {
  readonly id: string;
  readonly direction: 'input' | 'output';
  readonly action: 'pass' | 'mask' | 'block' | 'failed';
  readonly startedAtMs: number;
  readonly ms: number;
  readonly units?: number | undefined;
  readonly costPicoUsd?: PicoUsd | undefined;
}

export interface CallDetails {
  /** Outcome of the call; if undefined, its status determines it. */
  readonly outcome?: string;
  /** The reason why its stream was cut off. */
  readonly cutCode?: ErrorCode | undefined;
  readonly provider?: string | undefined;
  readonly attempts?: number;
  readonly tags: Tags | undefined;
  /** Fields for the log line only. */
  readonly fields: LogFields;
  readonly metrics?: Metrics['values'];
}
