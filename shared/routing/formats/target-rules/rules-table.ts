// Lists what a target requires of a conversation in addition to its format. The rules depend on the provider's kind and
// the model's family, and apply to relayed and to translated calls.
import {
  type Candidate,
  isOpenAiReasoningModel,
  modelNames,
  openAiNames,
  plainModelName,
} from '../../../configuration/catalogue/index.ts';
import type { ProviderKind } from '../../../configuration/model-list/index.ts';
import type { HubApi } from '../../../foundation/constants/index.ts';

export interface TargetRules {
  /** Form of the ids of tool calls. `nine_alphanumerics`: exactly nine characters, letters or digits. */
  readonly callIds: 'any' | 'nine_alphanumerics';
  /** True if the target requires a result of each tool call, and an answer between results and the user's next turn. */
  readonly requiresWholeTurns: boolean;
  /** True if the target refuses instructions after an answer or a result. */
  readonly requiresInstructionsFirst: boolean;
  /** True if a last message of the assistant needs a flag because the answer continues this message. */
  readonly requiresPrefixFlag: boolean;
  /** True if the target accepts several turns of one role in a row. */
  readonly acceptsConsecutiveTurns: boolean;
  /** True if the target accepts the role `developer`. */
  readonly acceptsDeveloperRole: boolean;
  /**
   * Place of thinking in a message. `parts`: in the content. `fields`: in a field next to the content.
   * `parts_or_fields`: the host of the model decides.
   */
  readonly thinkingPlace: 'parts' | 'fields' | 'parts_or_fields';
  /** True if the target accepts files inside the result of a tool. */
  readonly acceptsFilesInResults: boolean;
  /**
   * True if an answer in JSON keeps its text when the model also calls a tool. Otherwise the AI SDK package drops that
   * text.
   */
  readonly keepsTextWithJson: boolean;
  /** True if a result has a field for the failure of its tool. */
  readonly hasFailureFlag: boolean;
}

/**
 * A candidate. The model's id in the catalogue counts too, because the name of an inference profile need not contain
 * the vendor.
 */
type CandidateForRules = {
  readonly provider: Pick<Candidate['provider'], 'kind'>;
  readonly entry: Pick<Candidate['entry'], 'upstream_model' | 'list_model'>;
  readonly model: Pick<Candidate['model'], 'id'>;
};

const defaultRules: TargetRules = {
  callIds: 'any',
  requiresWholeTurns: false,
  requiresInstructionsFirst: false,
  requiresPrefixFlag: false,
  acceptsConsecutiveTurns: true,
  acceptsDeveloperRole: true,
  thinkingPlace: 'fields',
  acceptsFilesInResults: true,
  keepsTextWithJson: true,
  hasFailureFlag: true,
};

interface Row {
  readonly api: HubApi;
  readonly kinds?: readonly ProviderKind[];
  /** Matches one of the model's names. */
  readonly family?: RegExp;
  readonly rules: Partial<TargetRules>;
}

const mistrals = /(^|[./])(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)/;

/** Lists the rules by row. Later rows override earlier rows. */
const rows: readonly Row[] = [
  {
    // Strict templates of open models refuse two turns in a row: https://github.com/charmbracelet/crush/issues/279.
    api: 'chat-completions',
    rules: {
      acceptsConsecutiveTurns: false,
      acceptsDeveloperRole: false,
      acceptsFilesInResults: false,
      hasFailureFlag: false,
    },
  },
  {
    // Mistral's models refuse other ids (https://github.com/nearai/ironclaw/issues/1241) and another sequence of
    // messages (https://github.com/datapizza-labs/datapizza-ai/issues/98).
    api: 'chat-completions',
    family: mistrals,
    rules: {
      callIds: 'nine_alphanumerics',
      requiresWholeTurns: true,
      requiresInstructionsFirst: true,
      thinkingPlace: 'parts_or_fields',
    },
  },
  {
    // Mistral documents its thinking (https://docs.mistral.ai/capabilities/reasoning) and its flag of a message that
    // the answer continues (https://docs.mistral.ai/usage/prefix).
    api: 'chat-completions',
    kinds: ['mistral'],
    rules: {
      callIds: 'nine_alphanumerics',
      requiresWholeTurns: true,
      requiresInstructionsFirst: true,
      requiresPrefixFlag: true,
      thinkingPlace: 'parts',
    },
  },
  // For a Claude model without a JSON mode, @ai-sdk/anthropic forces a tool call, and drops the text of that answer.
  { api: 'messages', family: /claude/, rules: { keepsTextWithJson: false } },
  {
    api: 'messages',
    family: /claude-(opus-4-[15-9]|(sonnet|haiku)-4-[5-9]|(opus|sonnet|haiku|fable|mythos)-[5-9])/,
    rules: { keepsTextWithJson: true },
  },
  // The Responses API has no field for the failure of a tool.
  { api: 'responses', rules: { hasFailureFlag: false } },
  // Only Claude and Nova accept an `image` in a ToolResultContentBlock
  // (https://github.com/anomalyco/opencode/issues/49443) and the `status` of a ToolResultBlock
  // (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html).
  { api: 'converse', rules: { acceptsFilesInResults: false, hasFailureFlag: false } },
  { api: 'converse', family: /claude|nova/, rules: { acceptsFilesInResults: true, hasFailureFlag: true } },
  // These Claude models have no strict tools on Bedrock. @ai-sdk/amazon-bedrock 5.0.101 returns the first JSON in their
  // text and drops the rest.
  {
    api: 'converse',
    family: /claude-(opus-4-[78]|(opus|sonnet|fable|mythos)-[5-9])/,
    rules: { keepsTextWithJson: false },
  },
];

/** True for the providers OpenAI and Azure, and for every other provider if the model is an OpenAI reasoning model. */
export const isOpenAiTarget = (candidate: CandidateForRules): boolean =>
  candidate.provider.kind === 'openai' ||
  candidate.provider.kind === 'azure' ||
  isOpenAiReasoningModel(...openAiNames(candidate));

const knownRules = new WeakMap<CandidateForRules, Partial<Record<HubApi, TargetRules>>>();

/** Returns the rules. They are found once for each candidate of a catalogue. */
export function rulesOf(api: HubApi, candidate: CandidateForRules): TargetRules {
  const known = knownRules.get(candidate) ?? {};
  knownRules.set(candidate, known);
  known[api] ??= findRules(api, candidate);
  return known[api];
}

function findRules(api: HubApi, candidate: CandidateForRules): TargetRules {
  const { kind } = candidate.provider;
  const names = modelNames(candidate).map(plainModelName);
  const matches = (row: Row): boolean =>
    row.api === api &&
    (row.kinds === undefined || (kind !== undefined && row.kinds.includes(kind))) &&
    (row.family === undefined || names.some((name) => row.family?.test(name)));
  const rules: TargetRules = Object.assign({}, defaultRules, ...rows.filter(matches).map((row) => row.rules));
  // This rule is not a row, because a row requires its provider and its model together, while here either suffices.
  return api === 'chat-completions' && isOpenAiTarget(candidate)
    ? { ...rules, acceptsConsecutiveTurns: true, acceptsDeveloperRole: true }
    : rules;
}
