// How much a model may think. Thinking is output, so its budget is part of the output bound.
import type { AskedReasoning, Effort } from './hub-call.ts';

export interface Thinking {
  /** For models that are told how hard to think. */
  readonly effort: Effort;
  /** For models that are given tokens. */
  readonly budgetTokens: number;
}

/** The least that Claude takes. */
export const thinkingMinTokens = 1_024;

/** What part of the output an effort may use up, as OpenRouter has it. */
const shares: Readonly<Record<Effort, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

export const isEffort = (name: unknown): name is Effort => typeof name === 'string' && Object.hasOwn(shares, name);

/** For a model that knows only effort a budget becomes the nearest one. */
const effortByBudget: readonly (readonly [tokensMax: number, effort: Effort])[] = [
  [2_048, 'low'],
  [8_192, 'medium'],
];

/** Undefined: the request says nothing. 'none': it wants no thinking, or no tokens are left for any beside an answer. */
export function thinkingOf(asked: AskedReasoning | undefined, boundTokens: number): Thinking | 'none' | undefined {
  if (asked === undefined || asked === 'none') return asked;
  const wanted = typeof asked === 'object' ? asked.budgetTokens : Math.floor(boundTokens * shares[asked]);
  // One token at least is left for the answer: a budget has to be less than the bound.
  const budgetTokens = Math.min(Math.max(wanted, thinkingMinTokens), boundTokens - 1);
  if (budgetTokens < thinkingMinTokens) return 'none';
  const effort = typeof asked === 'object' ? (effortByBudget.find(([max]) => wanted <= max)?.[1] ?? 'high') : asked;
  return { effort, budgetTokens };
}
