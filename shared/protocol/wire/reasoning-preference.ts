// Reads the amount of thinking that a request wants.

const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export const isEffort = (name: unknown): name is Effort => efforts.some((effort) => effort === name);

/** The effort, or the tokens, that a model may spend on thinking. */
export type ReasoningPreference = 'none' | Effort | { readonly budgetTokens: number };
