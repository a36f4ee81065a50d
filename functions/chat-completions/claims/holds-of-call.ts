// What a call must hold before anybody is called: the worst case, from whoever would pay (contract 6).
import { worstCaseCost } from '../../../shared/billing/index.ts';
import type { Candidate } from '../../../shared/catalogue/index.ts';
import type { Hold } from '../../../shared/holds/index.ts';
import type { PicoUsd } from '../../../shared/money/index.ts';
import { chargedAnswersMax, leaseMs } from '../../../shared/names/index.ts';
import { hasMedia } from '../../../shared/routing/index.ts';
import type { ChatRequest } from '../../../shared/wire/index.ts';
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
