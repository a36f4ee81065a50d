// Refusals of real providers for a conversation that is sent again: results without their calls, and thinking without
// its signature.

/**
 * Contents of the model that follow each other are one turn to Google: its SDKs keep each chunk of a stream as a content, and the
 * end of a stream is a chunk of its own behind that of a call (`google-tool-call-gemini3` of the recorded answers).
 */
export function mergedModelTurns<Turn extends { readonly role?: string; readonly parts?: readonly unknown[] }>(
  contents: readonly Turn[],
): readonly Turn[] {
  const turns: Turn[] = [];
  for (const content of contents) {
    const last = turns.at(-1);
    if (last?.role === 'model' && content.role === 'model')
      turns.splice(-1, 1, { ...last, parts: [...(last.parts ?? []), ...(content.parts ?? [])] });
    else turns.push(content);
  }
  return turns;
}

export interface HistoryRefusal<FormatBody> {
  readonly formats: readonly string[];
  /** The public report, or the page, that documents it. */
  readonly source: string;
  /** Refuses in the provider's words; undefined when it accepts the request. */
  readonly why: (body: FormatBody, model: string) => string | undefined;
}

/** The fields of any format's request that are read; any other may be present. */
interface History {
  readonly messages?: readonly HistoryMessage[];
  readonly input?: string | readonly HistoryItem[];
  readonly contents?: readonly Content[];
  readonly previous_response_id?: string | null;
  readonly conversation?: unknown;
}

interface HistoryMessage {
  readonly role?: string;
  readonly content?: string | readonly HistoryBlock[] | null;
  readonly tool_calls?: readonly { readonly id?: string }[] | null;
  readonly tool_call_id?: string;
}

interface HistoryBlock {
  readonly type?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly signature?: string;
  readonly toolUse?: unknown;
  readonly toolResult?: unknown;
}

interface HistoryItem {
  readonly type?: string;
  readonly call_id?: string;
}

interface Content {
  readonly role?: string;
  readonly parts?: readonly HistoryPart[];
}

interface HistoryPart {
  readonly functionCall?: { readonly name?: string };
  readonly functionResponse?: unknown;
  readonly thoughtSignature?: string;
  readonly thought_signature?: string;
}

const blocksOf = (message: HistoryMessage | undefined): readonly HistoryBlock[] =>
  Array.isArray(message?.content) ? (message.content as readonly HistoryBlock[]) : [];

export const historyRefusals: readonly HistoryRefusal<History>[] = [
  {
    formats: ['messages'],
    source: 'https://github.com/anthropics/claude-code/issues/13460',
    why({ messages = [] }) {
      for (const [at, message] of messages.entries()) {
        const called = new Set(blocksOf(messages[at - 1]).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])));
        for (const [place, { type, tool_use_id: id }] of blocksOf(message).entries()) {
          if (type !== 'tool_result' || called.has(id)) continue;
          return `messages.${at}.content.${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
        }
      }
      return undefined;
    },
  },
  {
    formats: ['messages'],
    source: 'https://github.com/langchain-ai/langchain/pull/29971',
    why({ messages = [] }) {
      for (const [at, message] of messages.entries()) {
        const place = blocksOf(message).findIndex(
          ({ type, signature }) => type === 'thinking' && signature === undefined,
        );
        if (place >= 0) return `messages.${at}.content.${place}.thinking.signature: Field required`;
      }
      return undefined;
    },
  },
  {
    formats: ['converse'],
    source: 'https://github.com/strands-agents/harness-sdk/issues/1435',
    why({ messages = [] }) {
      const at = messages.findIndex((message, place) => {
        const called = blocksOf(messages[place - 1]).filter(({ toolUse }) => toolUse !== undefined);
        return blocksOf(message).filter(({ toolResult }) => toolResult !== undefined).length > called.length;
      });
      return at < 0
        ? undefined
        : `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`;
    },
  },
  {
    formats: ['chat-completions'],
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
    formats: ['responses'],
    source: 'https://github.com/continuedev/continue/issues/10092',
    why({ input, previous_response_id: previous, conversation }) {
      if (!Array.isArray(input) || (previous ?? conversation ?? null) !== null) return undefined;
      const items = input as readonly HistoryItem[];
      const called = new Set(items.flatMap(({ type, call_id: id }) => (type?.endsWith('_call') === true ? [id] : [])));
      const orphan = items.find(({ type, call_id: id }) => type === 'function_call_output' && !called.has(id));
      return orphan && `No tool call found for function call output with call_id ${orphan.call_id}.`;
    },
  },
  {
    formats: ['generate-content'],
    source: 'https://github.com/google-gemini/gemini-cli/issues/5443',
    why({ contents: sent = [] }) {
      const contents = mergedModelTurns(sent);
      const isUneven = contents.some(({ parts = [] }, at) => {
        const answers = parts.filter((part) => part.functionResponse !== undefined).length;
        const calls = (contents[at - 1]?.parts ?? []).filter((part) => part.functionCall !== undefined).length;
        return answers > 0 && answers !== calls;
      });
      return isUneven
        ? 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
        : undefined;
    },
  },
  {
    formats: ['generate-content'],
    source: 'https://github.com/nanbingxyz/5ire/issues/405',
    why({ contents: sent = [] }, model) {
      const contents = mergedModelTurns(sent);
      if (!/gemini-([3-9]|[a-z-]*latest)/.test(model)) return undefined;
      for (const [at, { parts = [] }] of contents.entries()) {
        // The first of parallel calls is signed.
        const call = parts.find((part) => part.functionCall !== undefined);
        if (call === undefined || (call.thoughtSignature ?? call.thought_signature) !== undefined) continue;
        return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call.functionCall?.name}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
      }
      return undefined;
    },
  },
];
