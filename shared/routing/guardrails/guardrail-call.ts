// Defines one check of texts by one guardrail. A call that fails or takes too long rejects. Types only.
import type { GuardrailDirection } from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';

export interface GuardrailQuestion {
  readonly direction: GuardrailDirection;
  /** Texts, of which there is at least one, and none is blank. */
  readonly texts: readonly string[];
  readonly callId: string;
  /** Aborts when the answer takes too long, or when the client has left. */
  readonly signal: AbortSignal;
}

type GuardrailVerdict =
  | { readonly action: 'pass' }
  /** `message` is the guardrail's own message. */
  | { readonly action: 'block'; readonly message?: string | undefined }
  /** `texts` are the masked texts, as many as were sent. */
  | { readonly action: 'mask'; readonly texts: readonly string[] };

export type GuardrailAnswer = GuardrailVerdict & {
  /** Units by which the check is billed. */
  readonly units?: number;
  readonly costPicoUsd?: PicoUsd;
};

export type AskGuardrail = (question: GuardrailQuestion) => Promise<GuardrailAnswer>;
