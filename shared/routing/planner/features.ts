// Checks whether a candidate supports the features of a request.

import type { EntryLimits, LimitedEntry } from '../../accounting/limits/index.ts';
import { accountOf, type Candidate, hasClientInterface } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';
import type { InterfaceId } from '../../foundation/constants/index.ts';
import type { AbilityName, CallSize, Feature, HubNeed } from '../../protocol/wire/index.ts';
import { estimateInputTokens, outputBoundOf } from '../billing/index.ts';

const abilities: Readonly<Record<AbilityName, (candidate: Candidate) => boolean>> = {
  tools: ({ entry }) => entry.supported_params.tools,
  vision: ({ entry }) => entry.supported_params.vision,
  // No parameter of an entry is about audio, so the model decides.
  audio: ({ model }) => model.modalities.includes('audio'),
  json_mode: ({ entry }) => entry.supported_params.json_mode,
  streaming: ({ entry }) => entry.streaming,
};

/**
 * True if the candidate supports the feature. A translation drops features that cost more than tokens, so only a relay
 * passes them to the provider.
 */
const supports = (candidate: Candidate, feature: Feature, interfaceId: InterfaceId): boolean => {
  if ('name' in feature) return abilities[feature.name](candidate);
  const { extras = [] } = candidate.entry.supported_params;
  return extras.includes(feature.extra) || !hasClientInterface(candidate, interfaceId);
};

export const supportsAll = (candidate: Candidate, features: readonly Feature[], interfaceId: InterfaceId): boolean =>
  features.every((feature) => supports(candidate, feature, interfaceId));

/**
 * Returns the error with the fields that no remaining candidate supports; if each supports a part, all requested
 * fields. The message says what the operator must configure.
 */
export function failUnsupported(
  remaining: readonly Candidate[],
  features: readonly Feature[],
  interfaceId: InterfaceId,
): GatewayError {
  const lacking = features.filter(
    (feature) => !remaining.some((candidate) => supports(candidate, feature, interfaceId)),
  );
  const namedFeatures = lacking.length > 0 ? lacking : features;
  const what = namedFeatures.map((feature) => ('name' in feature ? feature.name : placeOf(feature))).join(', ');
  const hints = [abilityHint(namedFeatures), extrasHint(namedFeatures)].filter((hint) => hint !== '');
  return fail('feature_unsupported', {
    message: [`No eligible provider of the model supports all that is requested: ${what}.`, ...hints].join(' '),
    param: namedFeatures.find((feature) => 'member' in feature)?.member,
  });
}

const placeOf = (feature: Feature): string => ('member' in feature ? feature.member : `the header ${feature.header}`);

/** The place in the gateway file where an entry states that a model has an ability. */
const memberOfAbility: Readonly<Record<AbilityName, string>> = {
  tools: 'supported_params: { tools: true }',
  vision: 'supported_params: { vision: true }',
  json_mode: 'supported_params: { json_mode: true }',
  streaming: 'streaming: true',
  audio: 'modalities with audio (at the model)',
};

function abilityHint(features: readonly Feature[]): string {
  const members = features.flatMap((feature) => ('name' in feature ? [memberOfAbility[feature.name]] : []));
  return members.length === 0
    ? ''
    : `Where the model can, the operator writes in its entry of the gateway file: ${[...new Set(members)].join(', ')}.`;
}

function extrasHint(features: readonly Feature[]): string {
  const extras = [...new Set(features.flatMap((feature) => ('extra' in feature ? [feature.extra] : [])))];
  return extras.length === 0
    ? ''
    : `This costs more than the catalogue's prices, so the operator has to allow it in the model's entry of the gateway file: supported_params.extras: [${extras.join(', ')}].`;
}

/**
 * Returns the error with the fields that no remaining format supports. If each format lacks other fields, returns all
 * lacking fields.
 */
export function failUntranslatable(lacks: readonly (readonly HubNeed[])[]): GatewayError {
  const lacked = [
    ...new Map(
      lacks
        .flat()
        .toReversed()
        .map((need) => [need.kind, need]),
    ).values(),
  ].toReversed();
  const role = lacked.find(({ kind }) => kind === 'unknown_role');
  if (role !== undefined)
    return fail('invalid_request', { message: `${role.member}: this role is unknown.`, param: role.member });
  const lackedByAll = lacked.filter(({ kind }) => lacks.every((one) => one.some((need) => need.kind === kind)));
  const namedNeeds = lackedByAll.length > 0 ? lackedByAll : lacked;
  const what = namedNeeds.map(({ kind, member }) => (kind === member ? kind : `${kind} (${member})`)).join(', ');
  return fail('feature_unsupported', {
    message: `No eligible provider of the model can be told all that is requested: the format it speaks has no words for ${what}.`,
    param: namedNeeds[0]?.member,
  });
}

// Token estimates for the provider limiter.

/**
 * Returns the upper bound of a call against a provider's token limits: the tokens of the prompt, and all the output
 * that the call may request, up to the provider's maximum. One request for a billion tokens must not exhaust a day's
 * limit while it runs. The real count corrects the counters afterwards.
 */
export function estimateTokens(size: CallSize, candidate: Candidate): number {
  const { entry } = candidate;
  const outputTokens = Math.min(outputBoundOf(entry, size), entry.max_output_tokens);
  return estimateInputTokens(candidate, size) + outputTokens * size.choices;
}

/**
 * Returns the estimate at the candidate with the highest estimate, because the candidate that answers is not known yet.
 */
export const mostTokens = ({ plan, size }: { readonly plan: readonly Candidate[]; readonly size: CallSize }): number =>
  Math.max(...plan.map((candidate) => estimateTokens(size, candidate)));

/** Returns the limited entry. Each credential is limited and measured, and cools down, separately. */
export const entryOf = ({ provider, model }: Candidate): LimitedEntry => ({
  provider: accountOf(provider),
  model: model.id,
});

export const limitsOf = ({ entry }: Candidate): EntryLimits => ({
  rpm: entry.rate_limit_rpm,
  tpm: entry.rate_limit_tpm,
  tpd: entry.rate_limit_tpd,
});
