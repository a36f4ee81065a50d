// Properties of the provider to which a request is relayed, for the client's interface.
import {
  type Candidate,
  canBeKeptFromThinking,
  isOpenAiReasoningModel,
  modelNames,
  openAiNames,
  relayedEffort,
  thinksByDefault,
} from '../../configuration/catalogue/index.ts';
import type { ProviderKind } from '../../configuration/model-list/index.ts';
import type { ReasoningPreference, UpstreamTarget } from '../../protocol/wire/index.ts';

export const upstreamTarget = (candidate: Candidate, zdr: boolean): UpstreamTarget =>
  targetNamed(candidate, zdr, openAiNames(candidate));

const targetNamed = ({ entry, model, provider }: Candidate, zdr: boolean, names: readonly string[]) => ({
  zdr,
  wantsNoEffortWithTools:
    (provider.reasoning_style ?? 'effort') === 'effort' &&
    [thinksByDefault, canBeKeptFromThinking].every((holds) => holds(...names)),
  model: entry.upstream_model,
  takesNewerBound:
    provider.kind === 'azure'
      ? hasUnknownMaker(names)
      : isOpenAiKind(provider.kind) && isOpenAiReasoningModel(...names),
  reasoningStyle: provider.reasoning_style ?? 'effort',
  effortOf: (preference: ReasoningPreference) => relayedEffort(preference, ...modelNames({ entry, model })),
  readsGoogleSignatures: googleHost.test(provider.base_url),
  reportsStreamUsage: provider.stream_usage !== false,
  defaultBound:
    entry.default_output_tokens === undefined
      ? undefined
      : { tokens: entry.default_output_tokens, chatMember: outputBoundMember(provider.kind) },
});

/**
 * True if the vendor is unknown, because a deployment's name need not be the model's name. All of OpenAI's models
 * accept the newer name of the bound, and some refuse the older name.
 */
const hasUnknownMaker = (names: readonly string[]): boolean =>
  !names.some((name) =>
    /mistral|codestral|deepseek|llama|phi-|grok|kimi|qwen|cohere|command-|jamba|gpt-oss/i.test(name),
  );

/** Host of Gemini's chat completions. */
const googleHost = /^https:\/\/[\w.-]+\.googleapis\.com\//;

/**
 * Returns the name of the output bound. OpenAI's reasoning models refuse `max_tokens`, and some other models do not
 * know the newer name.
 */
const outputBoundMember = (kind: ProviderKind | undefined): string =>
  isOpenAiKind(kind) ? 'max_completion_tokens' : 'max_tokens';

const isOpenAiKind = (kind: ProviderKind | undefined): boolean => kind === 'openai' || kind === 'azure';
