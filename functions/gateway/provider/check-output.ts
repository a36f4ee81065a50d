// Checks structured output. An answer that does not satisfy its schema is requested again, a bounded number of times.
// Every answer is charged, including an answer that no client sees.

import { chargedAnswersMax } from '../../../shared/foundation/constants/index.ts';
import type { JsonAnswer } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { ProviderCall } from '../stages.ts';
import { chargeAnswer } from './provider-attempts.ts';

type OutputVerdict =
  | { readonly kind: 'accepted'; readonly answer: JsonAnswer }
  /** The answer fails the schema. `mayRetry` is false if another answer would fail the same way. */
  | { readonly kind: 'mismatch'; readonly mismatch: string; readonly mayRetry: boolean };

export interface CheckedOutput {
  readonly charge: Charge;
  readonly verdict: OutputVerdict;
}

interface OutputCheck {
  /** Charges the answer, then checks it against the schema. */
  readonly check: (admitted: AdmittedCandidate, answer: JsonAnswer) => CheckedOutput | Promise<CheckedOutput>;
  /** Returns the place at which the last answer failed the schema; undefined if no answer failed. */
  readonly lastMismatch: () => string | undefined;
}

export function createOutputCheck(call: ProviderCall): OutputCheck {
  const { schemaCheck } = call.modelCall.request;
  const { schemaWork } = call.identified;
  const { isFunctionCall, scope } = call.parsed;
  // A function's result has to satisfy its schema, even if its client would accept a truncated answer.
  const skipsTruncated = !isFunctionCall && scope.baseUrlRules.skipsTruncated;
  let misses = 0;
  let lastMismatch: string | undefined;

  async function judge(check: NonNullable<typeof schemaCheck>, answer: JsonAnswer): Promise<OutputVerdict> {
    const result = await check.answer(answer, { skipsTruncated, schemaWork });
    if (result.kind === 'valid') return { kind: 'accepted', answer: result.answer };
    misses += 1;
    lastMismatch = result.mismatch;
    return { kind: 'mismatch', mismatch: lastMismatch, mayRetry: misses < chargedAnswersMax && !result.isFinal };
  }

  return {
    check({ candidate }, answer) {
      const { usage, outputBytes, units } = answer;
      const charge = chargeAnswer(call, candidate, { usage, outputBytes, units });
      if (schemaCheck === undefined) return { charge, verdict: { kind: 'accepted', answer } };
      return judge(schemaCheck, answer).then((verdict) => ({ charge, verdict }));
    },
    lastMismatch: () => lastMismatch,
  };
}
