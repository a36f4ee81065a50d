// What a call must hold before anybody is called: the worst case, from whoever would pay (contract 6).

import type { Hold } from '../../../shared/accounting/holds/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { chargedAnswersMax, leaseMs } from '../../../shared/foundation/constants/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { ChatRequest } from '../../../shared/protocol/wire/index.ts';
import { worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { hasMedia } from '../../../shared/routing/planner/index.ts';
import type { RoutedCall } from '../stages.ts';

/** Undefined: the call cannot cost the workspace anything. */
export function workspaceHold(call: RoutedCall, owner: string): Hold | undefined {
  const ours = call.plan.filter((candidate) => call.byok?.sourceOf(candidate) === undefined);
  const amount = worstCaseOf(call.request, ours);
  return amount === 0n ? undefined : { owner, amount, expiresAtMs: call.arrivedAtMs + leaseMs };
}

export const worstCaseOf = (request: ChatRequest, candidates: readonly Candidate[]): PicoUsd =>
  worstCaseCost(candidates, {
    bodyBytes: Buffer.byteLength(JSON.stringify(request.raw)),
    hasMedia: hasMedia(request),
    maxOutputTokens: request.maxOutputTokens,
    choices: request.choices,
    answersMax: request.responseSchema === undefined ? 1 : chargedAnswersMax,
  });
