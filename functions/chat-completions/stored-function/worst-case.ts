// What a provider call of a function may cost at most, its fallback models included.

import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { chargedAnswersMax } from '../../../shared/foundation/constants/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import { worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { worstCaseOf } from '../admission/holds-of-call.ts';
import type { Unit } from '../stages.ts';

/** Without a schema any answer is the result; with one, a model whose answers are paid may leave it to the next. */
export const worstCaseOfPrompt = ({ request, plan }: Unit): PicoUsd =>
  request.responseSchema === undefined
    ? worstCaseOf(request, plan)
    : sumOverModels(plan, (candidates) => worstCaseOf(request, candidates));

/** Answers of other steps come into its messages, so only the context bounds them. */
export const worstCaseOfStep = ({ request, plan }: Unit): PicoUsd =>
  sumOverModels(plan, (candidates) =>
    worstCaseCost(candidates, {
      bodyBytes: Number.MAX_SAFE_INTEGER,
      hasMedia: true,
      maxOutputTokens: request.maxOutputTokens,
      choices: request.choices,
      answersMax: request.responseSchema === undefined ? 1 : chargedAnswersMax,
    }),
  );

const sumOverModels = (plan: readonly Candidate[], costOf: (candidates: readonly Candidate[]) => PicoUsd): PicoUsd =>
  [...Map.groupBy(plan, ({ model }) => model.id).values()].reduce((sum, candidates) => sum + costOf(candidates), 0n);
