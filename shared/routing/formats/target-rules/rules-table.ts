// Rules of a target for a conversation beyond its format, by the provider's kind and the model's family, in one table
// for relayed and translated calls.
import {
  type Candidate,
  isOpenAiThinker,
  modelNames,
  openAiNames,
  plainModelName,
} from '../../../configuration/catalogue/index.ts';
import type { ProviderKind } from '../../../configuration/model-list/index.ts';
import type { HubApi } from '../../../foundation/constants/index.ts';

export interface TargetRules {
  /** Form of the ids of tool calls. `nine_letters`: nine letters and digits. */
  readonly callIds: 'any' | 'nine_letters';
  /** True if each call requires a result, and results require an answer before the user's next turn. */
  readonly wantsWholeTurns: boolean;
  /** True if instructions are refused after an answer or a result. */
  readonly wantsInstructionsFirst: boolean;
  /** True if a last message of the assistant must say that the answer continues it. */
  readonly wantsPrefixFlag: boolean;
  /** True if turns of one role may follow each other. */
  readonly takesTurnsInARow: boolean;
  /** True if `developer` is a role of its own. */
  readonly takesDeveloper: boolean;
  /** Place of thinking. `parts`: in the content. `fields`: beside it. `parts_or_fields`: as its host chooses. */
  readonly thinkingIn: 'parts' | 'fields' | 'parts_or_fields';
  /** True if files may be inside the result of a tool. */
  readonly takesFilesInResults: boolean;
  /** True if an answer in JSON may have texts beside a call of a tool; elsewhere a package drops them. */
  readonly keepsTextsBesideJson: boolean;
  /** True if a result has a field that says that its tool failed. */
  readonly flagsFailures: boolean;
}

/** A candidate. `model` is its catalogue id, if the name of a host's profile does not show its vendor. */
type RuledCandidate = {
  readonly provider: Pick<Candidate['provider'], 'kind'>;
  readonly entry: Pick<Candidate['entry'], 'upstream_model' | 'list_model'>;
  readonly model: Pick<Candidate['model'], 'id'>;
};

const plain: TargetRules = {
  callIds: 'any',
  wantsWholeTurns: false,
  wantsInstructionsFirst: false,
  wantsPrefixFlag: false,
  takesTurnsInARow: true,
  takesDeveloper: true,
  thinkingIn: 'fields',
  takesFilesInResults: true,
  keepsTextsBesideJson: true,
  flagsFailures: true,
};

interface Row {
  readonly api: HubApi;
  readonly kinds?: readonly ProviderKind[];
  /** Matches one of the model's names. */
  readonly family?: RegExp;
  readonly rules: Partial<TargetRules>;
}

const mistrals = /(^|[./])(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)/;

/** Rows, of which later ones take precedence over earlier ones. */
const rows: readonly Row[] = [
  {
    // Strict templates of open models refuse two turns in a row: https://github.com/charmbracelet/crush/issues/279.
    api: 'chat-completions',
    rules: { takesTurnsInARow: false, takesDeveloper: false, takesFilesInResults: false, flagsFailures: false },
  },
  {
    // https://github.com/nearai/ironclaw/issues/1241 (ids), https://github.com/datapizza-labs/datapizza-ai/issues/98
    // (order).
    api: 'chat-completions',
    family: mistrals,
    rules: {
      callIds: 'nine_letters',
      wantsWholeTurns: true,
      wantsInstructionsFirst: true,
      thinkingIn: 'parts_or_fields',
    },
  },
  {
    // https://docs.mistral.ai/capabilities/reasoning, https://docs.mistral.ai/usage/prefix.
    api: 'chat-completions',
    kinds: ['mistral'],
    rules: {
      callIds: 'nine_letters',
      wantsWholeTurns: true,
      wantsInstructionsFirst: true,
      wantsPrefixFlag: true,
      thinkingIn: 'parts',
    },
  },
  // If a Claude has no JSON mode, @ai-sdk/anthropic forces a tool call, and drops the texts beside it.
  { api: 'messages', family: /claude/, rules: { keepsTextsBesideJson: false } },
  {
    api: 'messages',
    family: /claude-(opus-4-[15-9]|(sonnet|haiku)-4-[5-9]|(opus|sonnet|haiku|fable|mythos)-[5-9])/,
    rules: { keepsTextsBesideJson: true },
  },
  // The output of a call is a text.
  { api: 'responses', rules: { flagsFailures: false } },
  // `image` of a ToolResultContentBlock (tried: https://github.com/anomalyco/opencode/issues/49443), `status` of a
  // ToolResultBlock (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html).
  { api: 'converse', rules: { takesFilesInResults: false, flagsFailures: false } },
  { api: 'converse', family: /claude|nova/, rules: { takesFilesInResults: true, flagsFailures: true } },
  // These have no strict tools there: @ai-sdk/amazon-bedrock 5.0.101 takes the first JSON in their texts and drops the
  // rest.
  {
    api: 'converse',
    family: /claude-(opus-4-[78]|(opus|sonnet|fable|mythos)-[5-9])/,
    rules: { keepsTextsBesideJson: false },
  },
];

/** True for OpenAI and Microsoft, or a provider without their kind whose model is one of OpenAI's with thinking. */
export const isOpenAiTarget = (candidate: RuledCandidate): boolean =>
  candidate.provider.kind === 'openai' ||
  candidate.provider.kind === 'azure' ||
  isOpenAiThinker(...openAiNames(candidate));

export function rulesOf(api: HubApi, candidate: RuledCandidate): TargetRules {
  const { kind } = candidate.provider;
  const names = modelNames(candidate).map(plainModelName);
  const isOf = (row: Row): boolean =>
    row.api === api &&
    (row.kinds === undefined || (kind !== undefined && row.kinds.includes(kind))) &&
    (row.family === undefined || names.some((name) => row.family?.test(name)));
  const rules: TargetRules = Object.assign({}, plain, ...rows.filter(isOf).map((row) => row.rules));
  return api === 'chat-completions' && isOpenAiTarget(candidate)
    ? { ...rules, takesTurnsInARow: true, takesDeveloper: true }
    : rules;
}
