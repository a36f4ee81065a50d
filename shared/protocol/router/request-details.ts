// Facts that the stages collect about a request, for its log line, its span and its metrics. No text of a prompt or an
// answer. Types only.
import type { ErrorCode } from '../../errors/index.ts';
import type { LogFields, Metrics } from '../../foundation/log/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Tags } from '../wire/index.ts';

export interface RequestDetails {
  /** Whose key it has. */
  caller?: { readonly workspace: string; readonly keyId: string; readonly keyName: string };
  operator?: { readonly id: string; readonly name: string };
  /** An operator's change. */
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
  /** The outcome by its status when undefined. */
  readonly outcome?: string;
  /** Why its stream was cut. */
  readonly cutCode?: ErrorCode | undefined;
  readonly provider?: string | undefined;
  readonly attempts?: number;
  readonly tags: Tags | undefined;
  /** Fields of the log line alone. */
  readonly fields: LogFields;
  readonly metrics?: Metrics['values'];
}
