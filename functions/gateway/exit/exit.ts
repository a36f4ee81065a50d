// The one exit: whatever a provider wrote leaves through here, whole, streamed, replayed, cached, or fetched by its id, with
// the guardrail decision for the key that reads. Nothing else makes a good answer of a provider's text.
import { GatewayError, okStatus } from '../../../shared/errors/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import type { OpenStream, ProvidedAnswer } from '../provider-call.ts';
import type { CallGuard, WholeAnswer } from '../stages.ts';

/** What the guardrails of the key that reads have to do with an answer. */
export type GuardDecision =
  /** The key has none. */
  | { readonly kind: 'unguarded' }
  /** They check it now. */
  | { readonly kind: 'guarded'; readonly guard: CallGuard }
  /** Each of them has checked it, before it was stored. */
  | { readonly kind: 'checked_before' };

declare const passing: unique symbol;
/** May leave. Only the functions below make one. */
export type Passed<Answer> = Answer & { readonly [passing]: true };

const pass = <Answer>(answer: Answer): Passed<Answer> => answer as Passed<Answer>;

export const decisionOf = (guard: CallGuard | undefined): GuardDecision =>
  guard === undefined ? { kind: 'unguarded' } : { kind: 'guarded', guard };

/** Returns an error in the place of an answer that could not be checked. */
export async function passAnswer(
  decision: GuardDecision,
  provided: ProvidedAnswer,
  choices: number,
): Promise<Passed<ProvidedAnswer> | GatewayError> {
  if (decision.kind !== 'guarded') return pass(provided);
  if (provided.kind === 'stream') {
    return pass({ ...provided, stream: await decision.guard.checkStream(provided.stream, choices) });
  }
  const checked = await decision.guard.checkAnswer(provided.answer);
  if (checked instanceof GatewayError) return checked;
  const { reachedVia } = provided;
  const leftOut = [...reachedVia.leftOut, ...checked.dropped];
  return pass({ ...provided, answer: { ...provided.answer, ...checked }, reachedVia: { ...reachedVia, leftOut } });
}

/** The same of an answer that no call of a model gave now. */
export async function passWhole(
  decision: GuardDecision,
  answer: WholeAnswer,
): Promise<Passed<{ readonly text: string }> | GatewayError> {
  if (decision.kind !== 'guarded') return pass(answer);
  const checked = await decision.guard.checkAnswer(answer);
  return checked instanceof GatewayError ? checked : pass({ text: checked.text ?? answer.text });
}

/** The same of events. `choices`: of the request. */
export const passStream = async (
  decision: GuardDecision,
  stream: OpenStream,
  choices: number,
): Promise<Passed<OpenStream>> =>
  pass(decision.kind === 'guarded' ? await decision.guard.checkStream(stream, choices) : stream);

/** An answer that was stored as its client got it. */
export const passStored = <Answer extends object>(
  _decision: Extract<GuardDecision, { kind: 'checked_before' | 'unguarded' }>,
  answer: Answer,
): Passed<Answer> => pass(answer);

/** A text of the gateway's own. */
export const ownText = (text: string): Passed<{ readonly text: string }> => pass({ text });

/** Status of every good answer. */
export const answerStatus = okStatus;

/** `_passed`: what the body is made of. */
export const respondWith = (_passed: Passed<object>, response: Omit<GatewayResponse, 'status'>): GatewayResponse => ({
  status: answerStatus,
  ...response,
});
