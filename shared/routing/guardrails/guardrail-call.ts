// One check of texts by one guardrail. A call that fails or is late rejects. Types only.
import type { GuardrailDirection } from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';

export interface GuardrailQuestion {
  readonly direction: GuardrailDirection;
  /** Never empty, none of them blank. */
  readonly texts: readonly string[];
  readonly callId: string;
  /** Aborts when the answer is late, or the client has left. */
  readonly signal: AbortSignal;
}

type GuardrailVerdict =
  | { readonly action: 'pass' }
  /** `message`: the guardrail's own. */
  | { readonly action: 'block'; readonly message?: string | undefined }
  /** As many texts as were asked about. */
  | { readonly action: 'mask'; readonly texts: readonly string[] };

export type GuardrailAnswer = GuardrailVerdict & {
  /** The check is billed by them. */
  readonly units?: number;
  readonly costPicoUsd?: PicoUsd;
};

export type AskGuardrail = (question: GuardrailQuestion) => Promise<GuardrailAnswer>;
