import type { Passed } from '../exit/exit.ts';
import type { ProvidedAnswer } from '../provider-call.ts';
import type { AnswerSource, EndedCall, RoutedCall, ServedCall } from '../stages.ts';

/** An answer that a provider has given for this call. */
export interface AnsweredCall {
  readonly call: ServedCall<RoutedCall>;
  readonly run: EndedCall['run'];
  readonly provided: Passed<ProvidedAnswer>;
  readonly headers: Readonly<Record<string, string>>;
}

export const sourceOf = ({ admitted: { candidate } }: ProvidedAnswer): AnswerSource => ({
  model: candidate.model.id,
  provider: candidate.provider.id,
});
