// Lists reasoning options by model, in one table for all formats. Thinking is output, so a budget is part of the output
// bound.
import type { Effort, ReasoningPreference } from '../../protocol/wire/index.ts';
import { plainModelName } from './catalogue.ts';

export interface ModelReasoning {
  /**
   * Kind of the options. `budget`: tokens. `adaptive`: the model's own choice, at an effort. `effort`: an effort.
   * `switch`: on or off. `none`: no options.
   */
  readonly kind: 'budget' | 'adaptive' | 'effort' | 'switch' | 'none';
  /** The names of efforts that the model knows, the lowest first. */
  readonly efforts: readonly Effort[];
  /** The lowest option, if thinking cannot be turned off. */
  readonly least: Effort | 'between_tools' | 'budget' | undefined;
  readonly budgetMin: number;
  readonly budgetMax: number;
}

/** Thinking of one call; undefined if the client does not ask for it, or the model does not think. */
export type Thinking =
  | { readonly kind: 'off' | 'on' }
  | { readonly kind: 'between_tools' }
  | { readonly kind: 'budget'; readonly tokens: number }
  /** `isLeast` means that the client asked for no thinking. */
  | { readonly kind: 'adaptive' | 'effort'; readonly effort: Effort; readonly isLeast: boolean };

/** The smallest budget that Claude accepts. */
export const thinkingMinTokens = 1_024;

const noBound = Number.POSITIVE_INFINITY;
/** Options of models with fixed thinking, or without thinking. */
const fixedReasoning: ModelReasoning = {
  kind: 'none',
  efforts: [],
  least: undefined,
  budgetMin: thinkingMinTokens,
  budgetMax: noBound,
};
/** Options of an unknown model, at a target that has no default for it. */
export const unknownModelReasoning: ModelReasoning = { ...fixedReasoning };
export const budgetReasoning: ModelReasoning = { ...fixedReasoning, kind: 'budget' };
const adaptive: ModelReasoning = {
  ...fixedReasoning,
  kind: 'adaptive',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
};
const byEffort = (least: Effort | undefined, ...efforts: readonly Effort[]): ModelReasoning => ({
  ...fixedReasoning,
  kind: 'effort',
  efforts,
  least,
});
const gemini2: ModelReasoning = { ...budgetReasoning, budgetMax: 24_576 };
const gemini2Pro: ModelReasoning = { ...budgetReasoning, budgetMax: 32_768 };

/**
 * Models, of which the first match counts. A test compares them with the catalogues of the installed packages, which do
 * not cover `-pro`, `-codex` and `-chat` of GPT (https://github.com/anomalyco/opencode/pull/26268, tried there in May
 * 2026) and Claude Mythos (https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html,
 * read in November 2026).
 */
const models: readonly (readonly [RegExp, ModelReasoning])[] = [
  [/claude-sonnet-5-5/, { ...adaptive, least: 'between_tools' }],
  [/claude-(opus-5-5|fable-5-[12])/, { ...adaptive, least: 'low' }],
  [/claude-(fable-5|mythos)/, { ...adaptive, least: 'low' }],
  [/claude-(opus|sonnet)-4-6/, { ...adaptive, efforts: ['low', 'medium', 'high', 'max'] }],
  [/claude-opus-4-[78]/, adaptive],
  [/claude-(opus|sonnet|haiku)-4|claude-3-7/, budgetReasoning],
  [/claude-(instant|v?2|3)(?=$|[-.:])/, fixedReasoning],
  [/claude-/, adaptive],
  [/gpt-oss/, byEffort('low', 'low', 'medium', 'high')],
  [/gpt-5-chat/, fixedReasoning],
  [/gpt-[5-9](-\d{1,2})?-chat/, byEffort('medium', 'medium')],
  [/gpt-5-pro/, byEffort('high', 'high')],
  [/gpt-[5-9](-\d{1,2})?-pro/, byEffort('medium', 'medium', 'high', 'xhigh')],
  [/gpt-5(-1)?-codex(?!-max)/, byEffort('low', 'low', 'medium', 'high')],
  [/gpt-5-\d{1,2}-codex/, byEffort('low', 'low', 'medium', 'high', 'xhigh')],
  [/gpt-5-1(?!\d)/, byEffort(undefined, 'low', 'medium', 'high')],
  [/gpt-5-[2-5](?!\d)/, byEffort(undefined, 'low', 'medium', 'high', 'xhigh')],
  [/gpt-(5-\d{1,2}(?!\d)|6-(sol|luna)|6-1-terra)/, byEffort(undefined, 'low', 'medium', 'high', 'xhigh', 'max')],
  [/gpt-[6-9]/, byEffort('low', 'low', 'medium', 'high', 'xhigh', 'max')],
  [/gpt-5/, byEffort('minimal', 'minimal', 'low', 'medium', 'high')],
  [/(^|[./])o[1-9](-|$)/, byEffort('low', 'low', 'medium', 'high')],
  // At high effort the model accepts no output bound.
  [/nova-2/, byEffort(undefined, 'low', 'medium')],
  [/kimi-k[3-9]/, byEffort('low', 'low', 'high', 'max')],
  [/kimi-k2-[56]/, { ...fixedReasoning, kind: 'switch' }],
  [/grok-3-mini/, byEffort('low', 'low', 'high')],
  [/grok-4-3(?=$|-)/, byEffort(undefined, 'low', 'medium', 'high')],
  // For this model the effort is the number of agents that work.
  [/grok-[\w-]*multi-agent|grok-(4-[6-9]|[5-9])/, byEffort('low', 'low', 'medium', 'high', 'xhigh')],
  [/grok-(4-5|build-latest)(?=$|-)/, byEffort('low', 'low', 'medium', 'high')],
  // These models have fixed thinking, and refuse options.
  [/grok-/, fixedReasoning],
  [/gemini-3-pro-image/, gemini2Pro],
  [/gemini-2-5-pro/, { ...gemini2Pro, least: 'budget', budgetMin: 128 }],
  [/gemini-2-5/, gemini2],
  [/gemini-[12](?=$|-)/, fixedReasoning],
  [/gemini-4-hydrogen/, byEffort('low', 'low', 'medium', 'high', 'xhigh')],
  [/gemini-[\w-]*pro/, byEffort('low', 'low', 'medium', 'high')],
  [/gemini-(flash-latest|(3-([7-9]|\d\d)|[4-9]-\d+)-flash(?!-lite))/, byEffort('low', 'low', 'medium', 'high')],
  [/gemini-/, byEffort('minimal', 'minimal', 'low', 'medium', 'high')],
];

/**
 * Returns the options. `names` are the names of one model, at its provider and in the catalogue, because the name of an
 * inference profile need not contain the model's name.
 */
export function reasoningOf(...names: readonly string[]): ModelReasoning | undefined {
  for (const name of names) {
    const plain = plainModelName(name);
    const found = models.find(([pattern]) => pattern.test(plain));
    if (found !== undefined) return found[1];
  }
  return undefined;
}

/** Shares of the output for efforts, from OpenRouter's definition. */
const shares: Readonly<Record<Effort, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const efforts = Object.keys(shares) as readonly Effort[];
/** Options with any effort that the client asks for. */
export const anyEffortReasoning: ModelReasoning = { ...fixedReasoning, kind: 'effort', efforts };

/** Efforts by budget. For a model that knows only effort, a budget becomes the nearest effort. */
const effortByBudget: readonly (readonly [tokensMax: number, effort: Effort])[] = [
  [2_048, 'low'],
  [8_192, 'medium'],
];

export function thinkingOf(
  preference: ReasoningPreference | undefined,
  outputMaxTokens: number,
  model: ModelReasoning,
): Thinking | undefined {
  if (preference === undefined || model.kind === 'none') return undefined;
  if (preference === 'none') return leastOf(model, outputMaxTokens);
  if (model.kind === 'switch') return { kind: 'on' };
  if (model.kind === 'budget') return budgetOf(preference, outputMaxTokens, model);
  const effort = typeof preference === 'object' ? effortOfBudget(preference.budgetTokens) : preference;
  return { kind: model.kind, effort: knownEffort(effort, model), isLeast: false };
}

/**
 * Returns the effort for a relayed chat completion; undefined if no effort is sent to the model. A host with budgets or
 * a switch converts an effort itself.
 */
export function relayedEffort(preference: ReasoningPreference, ...names: readonly string[]): string | undefined {
  const model = reasoningOf(...names) ?? anyEffortReasoning;
  const scale = model.kind === 'budget' || model.kind === 'switch' ? anyEffortReasoning : model;
  const thinking = thinkingOf(preference, noBound, scale);
  if (thinking?.kind === 'off') return 'none';
  return thinking !== undefined && 'effort' in thinking ? thinking.effort : undefined;
}

/** Returns the least thinking, for models whose thinking cannot be switched off. */
function leastOf({ kind, least, budgetMin }: ModelReasoning, outputMaxTokens: number): Thinking {
  if (least === undefined) return { kind: 'off' };
  if (least === 'between_tools') return { kind: least };
  if (least === 'budget') return { kind: 'budget', tokens: Math.min(budgetMin, outputMaxTokens) };
  return { kind: kind === 'adaptive' ? kind : 'effort', effort: least, isLeast: true };
}

function budgetOf(
  preference: Exclude<ReasoningPreference, 'none'>,
  outputMaxTokens: number,
  model: ModelReasoning,
): Thinking {
  const budget =
    typeof preference === 'object' ? preference.budgetTokens : Math.floor(outputMaxTokens * shares[preference]);
  // At least one token is left for the answer, because a budget has to be less than the bound.
  const tokens = Math.min(Math.max(budget, thinkingMinTokens), outputMaxTokens - 1, model.budgetMax);
  return tokens < thinkingMinTokens ? leastOf(model, outputMaxTokens) : { kind: 'budget', tokens };
}

const effortOfBudget = (tokens: number): Effort => effortByBudget.find(([max]) => tokens <= max)?.[1] ?? 'high';

/** Returns the next lower effort that a model knows, or its lowest. */
function knownEffort(wanted: Effort, model: ModelReasoning): Effort {
  const rank = efforts.indexOf(wanted);
  const known = model.efforts.filter((effort) => efforts.indexOf(effort) <= rank);
  return known.at(-1) ?? model.efforts[0] ?? wanted;
}
