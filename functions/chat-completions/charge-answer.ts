// From what was seen of an answer to what is charged for it: one way for JSON and streams, so both cost the same.
import type { Charge, Payer } from '../../shared/routing/billing/index.ts';
import type { ClaimedCall, Turn } from './stages.ts';

export interface SeenAnswer {
  readonly usage: Record<string, unknown> | undefined;
  readonly outputBytes: number;
  /** Of a stream whose last report of usage is older than its end. */
  readonly outputBytesAfterUsage?: number;
}

export const payerOf = ({ byok }: ClaimedCall, { candidate }: Turn): Payer =>
  byok?.sourceOf(candidate) === undefined ? 'workspace' : 'client';

/** Call it once per answer. `tokens`: what the provider's limits should count. */
export function chargeAnswer(
  call: ClaimedCall,
  turn: Turn,
  { usage: reported, outputBytes, outputBytesAfterUsage = 0 }: SeenAnswer,
  promptBytes: number,
): { readonly charge: Charge; readonly tokens: number } {
  const observed = { prompt: promptBytes, output: outputBytes, outputAfterUsage: outputBytesAfterUsage };
  const charge = call.bill.charge(turn.candidate, reported, observed, payerOf(call, turn));
  return { charge, tokens: charge.usage.promptTokens + charge.usage.completionTokens };
}
