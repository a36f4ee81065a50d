import type { Passed } from '../exit/exit.ts';
import type { ProvidedAnswer } from '../provider-call.ts';
import type { AdmittedPlain, AnswerSource, EndedCall } from '../stages.ts';

/** An answer that a provider has given for this call. */
export interface AnsweredCall {
  readonly call: AdmittedPlain;
  readonly run: EndedCall['run'];
  readonly provided: Passed<ProvidedAnswer>;
  readonly headers: Readonly<Record<string, string>>;
}

export const sourceOf = ({ admitted: { candidate } }: ProvidedAnswer): AnswerSource => ({
  model: candidate.model.id,
  provider: candidate.provider.id,
});
