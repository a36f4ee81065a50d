// One line for each charge of more input than the call held: the report of a provider is believed, because it is paid so, but
// it is more than one token for each byte of the body.
import type { Log } from '../../../shared/foundation/log/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { AdmittedCall } from '../stages.ts';

export function logChargesOverHold(log: Log, { scope, workspace, bill, holdings }: AdmittedCall): void {
  const holdsBudget = (provider: string) => holdings.budgetHolds?.some((hold) => hold.provider === provider) === true;
  for (const { candidate, usage, reported, cost, payer, inputTokensMax } of bill.charges) {
    const provider = candidate.provider.id;
    if (usage.promptTokens <= inputTokensMax || (payer === 'client' && !holdsBudget(provider))) continue;
    log.info({
      event: 'charge_over_hold',
      message: `The provider reported ${reported?.tokens.input} input tokens for a body that can have ${inputTokensMax}.`,
      correlation_id: scope.correlationId,
      workspace_id: workspace.id,
      provider,
      model: candidate.model.id,
      input_tokens: usage.promptTokens,
      cost_usd: formatUsd(cost.total),
    });
  }
}
