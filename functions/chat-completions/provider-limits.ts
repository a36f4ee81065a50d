// What the limiter is asked for a candidate.

import type { EntryLimits, LimitedEntry } from '../../shared/accounting/limits/index.ts';
import type { Candidate } from '../../shared/configuration/catalogue/index.ts';
import type { ChatRequest } from '../../shared/protocol/wire/index.ts';
import { promptTextBytes } from '../../shared/routing/planner/index.ts';

/** English text is about four bytes a token; the real count corrects the counters afterwards. */
const bytesPerToken = 4;

/**
 * What a call may take of a provider's token limits: its prompt, and all the output it may ask for. No more than the
 * provider ever writes: one request for a billion tokens would shut a day's limit to everybody else while it runs.
 */
export function estimateTokens(request: ChatRequest, { entry }: Candidate): number {
  const outputTokens = Math.min(request.maxOutputTokens ?? entry.max_output_tokens, entry.max_output_tokens);
  return Math.ceil(promptTextBytes(request) / bytesPerToken) + outputTokens * request.choices;
}

export const limitsOf = ({
  provider,
  model,
  entry,
}: Candidate): { readonly entry: LimitedEntry; readonly limits: EntryLimits } => ({
  entry: { provider: provider.id, model: model.id },
  limits: { rpm: entry.rate_limit_rpm, tpm: entry.rate_limit_tpm, tpd: entry.rate_limit_tpd },
});
