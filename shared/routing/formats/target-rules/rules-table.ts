// Rules of a target for a conversation beyond its format, by the provider's kind and the model's family: one table for
// relayed and translated calls.
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
  /** `nine_letters`: ids of tool calls are nine letters and digits. */
  readonly callIds: 'any' | 'nine_letters';
  /** Set where each call wants a result, and an answer between results and the user's next turn. */
  readonly wantsWholeTurns: boolean;
  /** Set where instructions are refused behind an answer or a result. */
  readonly wantsInstructionsFirst: boolean;
  /** Set where a last message of the assistant must say that the answer continues it. */
  readonly wantsPrefixFlag: boolean;
  /** Set where turns of one role may follow each other. */
  readonly takesTurnsInARow: boolean;
  /** Set where `developer` is a role of its own. */
  readonly takesDeveloper: boolean;
  /** `parts`: of the content. `fields`: beside it. `parts_or_fields`: by its host. */
  readonly thinkingIn: 'parts' | 'fields' | 'parts_or_fields';
  /** Set where files may be inside the result of a tool. */
  readonly takesFilesInResults: boolean;
  /** Set where an answer that is to be JSON may say something else beside a call of a tool: a package drops that. */
  readonly keepsTextsBesideJson: boolean;
  /** Set where a result has a field that says that its tool failed. */
  readonly flagsFailures: boolean;
}

/** `model`: of its catalogue, where a host's profile does not show whose model it is. */
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
  /** Of one of the model's names. */
  readonly family?: RegExp;
  readonly rules: Partial<TargetRules>;
}

const mistrals = /(^|[./])(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)/;

/** Later rows win over earlier ones. */
const rows: readonly Row[] = [
  {
    // Strict templates of open models refuse two turns in a row: https://github.com/charmbracelet/crush/issues/279.
    api: 'chat-completions',
    rules: { takesTurnsInARow: false, takesDeveloper: false, takesFilesInResults: false, flagsFailures: false },
  },
  {
    // https://github.com/nearai/ironclaw/issues/1241 (ids), https://github.com/datapizza-labs/datapizza-ai/issues/98 (order).
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
  // Where a Claude has no JSON of its own, @ai-sdk/anthropic makes it call a tool, and drops the texts beside it.
  { api: 'messages', family: /claude/, rules: { keepsTextsBesideJson: false } },
  {
    api: 'messages',
    family: /claude-(opus-4-[15-9]|(sonnet|haiku)-4-[5-9]|(opus|sonnet|haiku|fable|mythos)-[5-9])/,
    rules: { keepsTextsBesideJson: true },
  },
  // Its output of a call is a text.
  { api: 'responses', rules: { flagsFailures: false } },
  // `image` of a ToolResultContentBlock (tried: https://github.com/anomalyco/opencode/issues/49443), `status` of a ToolResultBlock
  // (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html).
  { api: 'converse', rules: { takesFilesInResults: false, flagsFailures: false } },
  { api: 'converse', family: /claude|nova/, rules: { takesFilesInResults: true, flagsFailures: true } },
  // Those without strict tools there: @ai-sdk/amazon-bedrock 5.0.101 takes the first JSON of their words and drops the rest.
  {
    api: 'converse',
    family: /claude-(opus-4-[78]|(opus|sonnet|fable|mythos)-[5-9])/,
    rules: { keepsTextsBesideJson: false },
  },
];

/** OpenAI and Microsoft, or a provider without their kind whose model is one of OpenAI's that think. */
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
