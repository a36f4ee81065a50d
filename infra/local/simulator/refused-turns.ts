// Refusals of single makers' models for the turns of a chat: ids, order, roles, and what a result may hold.
import type { HistoryRefusal } from './refused-histories.ts';

/** The fields that are read; any other may be present. */
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

interface ResultBlock {
  readonly toolResult?: {
    readonly status?: string;
    readonly content?: readonly { readonly image?: unknown; readonly document?: unknown; readonly text?: string }[];
  };
}

const isMistral = (model: string): boolean => /(^|\/)(mistral|magistral|ministral|devstral|codestral)/.test(model);
/** At its maker, whose names have no maker before them. */
const isAtMistral = (model: string): boolean => /^(mistral|magistral|ministral|devstral|codestral)/.test(model);

/** Roles that may follow: `mistral_common`, instruct/validator.py. */
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

export const turnRefusals: readonly HistoryRefusal<Turns>[] = [
  {
    formats: ['chat-completions'],
    source: 'https://github.com/nearai/ironclaw/issues/1241',
    why: ({ messages = [] }, model) => (isMistral(model) ? wrongCalls(messages) : undefined),
  },
  {
    formats: ['chat-completions'],
    source: 'https://github.com/datapizza-labs/datapizza-ai/issues/98',
    why: ({ messages = [] }, model) => (isAtMistral(model) ? wrongTurn(messages) : undefined),
  },
  {
    formats: ['chat-completions'],
    source: 'https://docs.mistral.ai/api/endpoint/chat',
    why({ messages = [] }, model) {
      const fields = isAtMistral(model) ? foreignFields : [];
      const at = messages.findIndex((message) => fields.some((field) => field in message));
      return at < 0 ? undefined : `Extra inputs are not permitted: messages.${at}`;
    },
  },
  {
    formats: ['chat-completions'],
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
    formats: ['chat-completions'],
    source: 'https://github.com/earendil-works/pi/issues/1048',
    why({ messages = [] }, model) {
      const at = /deepseek/.test(model) ? messages.findIndex(({ role }) => role === 'developer') : -1;
      return at < 0
        ? undefined
        : `Failed to deserialize the JSON body into the target type: messages[${at}].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``;
    },
  },
  {
    formats: ['chat-completions'],
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
  {
    formats: ['converse'],
    source: 'https://github.com/anomalyco/opencode/issues/49443',
    why({ messages = [] }, model) {
      if (/claude|nova/.test(model)) return undefined;
      const results = messages.flatMap(({ content }) =>
        (Array.isArray(content) ? (content as readonly ResultBlock[]) : []).flatMap(
          ({ toolResult }) => toolResult ?? [],
        ),
      );
      if (results.some(({ status }) => status !== undefined)) {
        return "This model doesn't support the status field in the toolResult block.";
      }
      return results.some(({ content = [] }) => content.some((block) => block.image ?? block.document))
        ? "This model doesn't support the image field for user messages. Remove image and try again."
        : undefined;
    },
  },
];
