// Is the only exit of the gateway. Every text of a provider leaves through this file, whether whole, streamed,
// replayed, cached, or fetched by its id, with the guardrail decision for the key that reads. No other file makes a
// successful answer of a provider's text.
import { GatewayError, okStatus } from '../../../shared/errors/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import type { OpenStream, ProvidedAnswer } from '../provider-call.ts';
import type { CallGuard, WholeAnswer } from '../stages.ts';

/** Decides how the guardrails of the reading key apply to an answer. */
export type GuardDecision =
  /** The key has no guardrails. */
  | { readonly kind: 'unguarded' }
  /** The guardrails of the key check the answer now. */
  | { readonly kind: 'guarded'; readonly guard: CallGuard }
  /** Each guardrail of the key has checked the answer before it was stored. */
  | { readonly kind: 'checked_before' };

declare const passing: unique symbol;
/** An answer that may leave. Only the functions of this file make this type. */
export type Passed<Answer> = Answer & { readonly [passing]: true };

const pass = <Answer>(answer: Answer): Passed<Answer> => answer as Passed<Answer>;

export const decisionOf = (guard: CallGuard | undefined): GuardDecision =>
  guard === undefined ? { kind: 'unguarded' } : { kind: 'guarded', guard };

/** Returns an error instead of an answer that could not be checked. */
export function passAnswer(
  decision: GuardDecision,
  provided: ProvidedAnswer,
  choices: number,
): PassedOrError | Promise<PassedOrError> {
  return decision.kind === 'guarded' ? guardAnswer(decision.guard, provided, choices) : pass(provided);
}

export type PassedOrError = Passed<ProvidedAnswer> | GatewayError;

async function guardAnswer(guard: CallGuard, provided: ProvidedAnswer, choices: number): Promise<PassedOrError> {
  if (provided.kind === 'stream') {
    return pass({ ...provided, stream: await guard.checkStream(provided.stream, choices) });
  }
  const check = await guard.checkAnswer(provided.answer);
  if (check instanceof GatewayError) return check;
  const { reachedVia } = provided;
  const leftOut = [...reachedVia.leftOut, ...check.dropped];
  return pass({ ...provided, answer: { ...provided.answer, ...check }, reachedVia: { ...reachedVia, leftOut } });
}

/** Checks an answer that was not given by a model in this call. Returns an error if it could not be checked. */
export async function passWhole(
  decision: GuardDecision,
  answer: WholeAnswer,
): Promise<Passed<{ readonly text: string }> | GatewayError> {
  if (decision.kind !== 'guarded') return pass(answer);
  const check = await decision.guard.checkAnswer(answer);
  return check instanceof GatewayError ? check : pass({ text: check.text ?? answer.text });
}

/** Checks events as they arrive. `choices` is the number that the request asked for. */
export const passStream = async (
  decision: GuardDecision,
  stream: OpenStream,
  choices: number,
): Promise<Passed<OpenStream>> =>
  pass(decision.kind === 'guarded' ? await decision.guard.checkStream(stream, choices) : stream);

/** Passes an answer that was stored as its client got it. */
export const passStored = <Answer extends object>(
  _decision: Extract<GuardDecision, { kind: 'checked_before' | 'unguarded' }>,
  answer: Answer,
): Passed<Answer> => pass(answer);

/** Passes a text that the gateway wrote itself. */
export const ownText = (text: string): Passed<{ readonly text: string }> => pass({ text });

/** Status of every successful answer. */
export const answerStatus = okStatus;

/** Builds the response. `_passed` proves that the content of the body has passed. */
export const respondWith = (_passed: Passed<object>, response: Omit<GatewayResponse, 'status'>): GatewayResponse => ({
  status: answerStatus,
  ...response,
});
