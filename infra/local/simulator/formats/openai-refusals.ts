// Refuses requests as OpenAI's models do on chat completions and Responses, and as other vendors' models do on chat
// completions.
import type { ProviderRefusal } from '../call.ts';
import { lacksRequired, looseSchema } from '../refused-schemas.ts';
import { isThinker, knowsNoNone, thinksByDefault, thinksWithToolsElsewhere } from '../signature.ts';

/** The fields of either request that are read; the request may have others. */
export interface OpenAiBody {
  readonly tools?: readonly OpenAiTool[] | null;
  readonly reasoning_effort?: string | null;
  readonly reasoning?: { readonly effort?: string | null } | null;
}

interface OpenAiTool {
  readonly type?: string;
  readonly name?: string;
  readonly strict?: boolean | null;
  readonly parameters?: unknown;
  readonly function?: { readonly name?: string; readonly strict?: boolean | null; readonly parameters?: unknown };
}

const isOpenAi = /(^|\/)(gpt-|o\d)/;
const hasTools = ({ tools }: OpenAiBody): boolean => (tools ?? []).length > 0;
const functionsOf = ({ tools }: OpenAiBody) =>
  (tools ?? []).flatMap((tool) => (tool.function ?? (tool.type === 'function' ? tool : [])) as NonNullable<OpenAiTool>);

const toolsElsewhere = (model: string): string =>
  `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;

const unknownEffort = (member: string, effort: string): string =>
  `Unsupported value: '${member}' does not support '${effort}' with this model.`;

/** Returns the requested effort. A model that thinks by default counts as asked with an effort. */
const effortIn = ({ reasoning_effort: effort }: OpenAiBody, model: string): string =>
  effort ?? (thinksByDefault(model) ? 'its own' : 'none');

const unknownEfforts: ProviderRefusal<OpenAiBody> = {
  source: 'https://github.com/bolna-ai/bolna/issues/1019',
  why(body, model) {
    const [member, effort] =
      (body.reasoning_effort ?? null) === null
        ? ['reasoning.effort', body.reasoning?.effort]
        : ['reasoning_effort', body.reasoning_effort];
    if (!isThinker(model) || typeof effort !== 'string') return undefined;
    return ['none', 'minimal'].includes(effort) && knowsNoNone(model) ? unknownEffort(member, effort) : undefined;
  },
};

const looseTools: ProviderRefusal<OpenAiBody> = {
  source: 'https://platform.openai.com/docs/guides/function-calling#strict-mode',
  why(body, model) {
    if (!isOpenAi.test(model)) return undefined;
    const strict = functionsOf(body).filter((one) => one.strict === true);
    for (const { name, parameters } of strict) {
      const fault = looseSchema(parameters) ?? lacksRequired(parameters);
      if (fault !== undefined) return `Invalid schema for function '${name}': In context=(), ${fault}`;
    }
    return undefined;
  },
};

export const responsesRefusals: readonly ProviderRefusal<OpenAiBody>[] = [unknownEfforts, looseTools];

/** The fields that are read; the request may have others. */
interface Turns {
  readonly messages?: readonly Turn[];
}

interface Turn {
  readonly role?: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id?: string }[] | null;
  readonly tool_call_id?: string;
  readonly prefix?: boolean;
}

const isMistral = (model: string): boolean => /(^|\/)(mistral|magistral|ministral|devstral|codestral)/.test(model);
/** Returns whether the model is called at Mistral itself, where names have no vendor before them. */
const isAtMistral = (model: string): boolean => /^(mistral|magistral|ministral|devstral|codestral)/.test(model);

/** Roles that may follow each role. Source: `mistral_common`, instruct/validator.py. */
const rolesBehind: Readonly<Record<string, readonly string[]>> = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
};

const foreignFields = ['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'];

function wrongTurn(messages: readonly Turn[]): string | undefined {
  for (const [at, { role = '' }] of messages.entries()) {
    if (!(role in rolesBehind)) return `Input should be 'system', 'user', 'assistant' or 'tool': messages.${at}.role`;
    const before = messages[at - 1]?.role;
    if (before !== undefined && rolesBehind[before]?.includes(role) === false) {
      return `Unexpected role '${role}' after role '${before}'`;
    }
  }
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.prefix !== true
    ? 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'
    : undefined;
}

function wrongCalls(messages: readonly Turn[]): string | undefined {
  let open: readonly string[] = [];
  const seen = new Set<string>();
  for (const { role, tool_calls: calls, tool_call_id: result = '' } of messages) {
    const ids = role === 'tool' ? [result] : (calls ?? []).map(({ id = '' }) => id);
    const odd = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    if (odd !== undefined) return `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
    if (role === 'tool') {
      if (!open.includes(result)) return `Unexpected tool call id ${result} in tool results`;
      open = open.filter((id) => id !== result);
      continue;
    }
    if (open.length > 0) return 'Not the same number of function calls and responses';
    const twice = ids.find((id) => seen.has(id));
    if (twice !== undefined) return `Duplicate tool call id ${twice}`;
    for (const id of ids) seen.add(id);
    open = ids;
  }
  return open.length > 0 ? 'Not the same number of function calls and responses' : undefined;
}

export const chatRefusals: readonly ProviderRefusal<OpenAiBody & Turns>[] = [
  {
    source: 'https://github.com/BerriAI/litellm/issues/34569',
    why: (body, model) =>
      hasTools(body) && thinksWithToolsElsewhere(model) && effortIn(body, model) !== 'none'
        ? toolsElsewhere(model)
        : undefined,
  },
  unknownEfforts,
  looseTools,
  {
    source: 'https://github.com/smarter-sh/smarter/issues/264',
    why({ messages = [] }) {
      let open = new Set<unknown>();
      for (const [at, { role, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
        if (role !== 'tool') open = new Set((calls ?? []).map((call) => call.id));
        else if (!open.has(id)) {
          return `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. (messages.[${at}].role)`;
        }
      }
      return undefined;
    },
  },
  {
    source: 'https://github.com/nearai/ironclaw/issues/1241',
    why: ({ messages = [] }, model) => (isMistral(model) ? wrongCalls(messages) : undefined),
  },
  {
    source: 'https://github.com/datapizza-labs/datapizza-ai/issues/98',
    why: ({ messages = [] }, model) => (isAtMistral(model) ? wrongTurn(messages) : undefined),
  },
  {
    source: 'https://docs.mistral.ai/api/endpoint/chat',
    why({ messages = [] }, model) {
      const fields = isAtMistral(model) ? foreignFields : [];
      const at = messages.findIndex((message) => fields.some((field) => field in message));
      return at < 0 ? undefined : `Extra inputs are not permitted: messages.${at}`;
    },
  },
  {
    source: 'https://github.com/charmbracelet/crush/issues/279',
    why({ messages = [] }, model) {
      if (!/qwen|llama|ministral/.test(model)) return undefined;
      const isTwice = messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'user');
      return isTwice
        ? 'After the optional system message, conversation roles must alternate user and assistant roles.'
        : undefined;
    },
  },
  {
    source: 'https://github.com/earendil-works/pi/issues/1048',
    why({ messages = [] }, model) {
      const at = /deepseek/.test(model) ? messages.findIndex(({ role }) => role === 'developer') : -1;
      return at < 0
        ? undefined
        : `Failed to deserialize the JSON body into the target type: messages[${at}].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``;
    },
  },
  {
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    why({ messages = [] }, model) {
      if (isMistral(model)) return undefined;
      const isThought = (part: unknown) => (part as { type?: unknown } | null)?.type === 'thinking';
      const at = messages.findIndex(({ content }) => Array.isArray(content) && content.some(isThought));
      return at < 0
        ? undefined
        : `Invalid value: 'thinking'. Supported values are: 'text' and 'refusal'. (messages[${at}].content[0])`;
    },
  },
];
