// How hard a model is asked to think.

const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export const isEffort = (name: unknown): name is Effort => efforts.some((effort) => effort === name);

/** How hard a model is to think, or with how many tokens. */
export type ReasoningPreference = 'none' | Effort | { readonly budgetTokens: number };
