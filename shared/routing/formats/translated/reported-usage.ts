// Packages refuse a whole answer whose usage is not as they expect it. Here such a usage is estimated, as at any provider:
// negative counts take its place, and the reader of usage drops them.
import { findMember, isJsonObject, rewriteMembers, scanJson, toCount } from '../../../protocol/wire/index.ts';
import type { TranslatedApi } from './translated-api.ts';

type Json = Readonly<Record<string, unknown>>;

interface UsageForm {
  readonly member: string;
  /** Counts without which nothing is reported. */
  readonly required: readonly string[];
  /** What else is a count. */
  readonly counts: readonly string[];
  /** Packages want it in a whole answer. */
  readonly isWanted: boolean;
}

const anthropicCounts = ['cache_creation_input_tokens', 'cache_read_input_tokens'];
const forms: Readonly<Record<TranslatedApi, UsageForm>> = {
  messages: {
    member: 'usage',
    required: ['input_tokens', 'output_tokens'],
    counts: anthropicCounts,
    isWanted: true,
  },
  converse: {
    member: 'usage',
    required: ['inputTokens', 'outputTokens', 'totalTokens'],
    counts: ['cacheReadInputTokens', 'cacheWriteInputTokens'],
    isWanted: true,
  },
  'generate-content': {
    member: 'usageMetadata',
    required: ['promptTokenCount'],
    counts: ['candidates', 'thoughts', 'cachedContent', 'toolUsePrompt', 'total'].map((name) => `${name}TokenCount`),
    isWanted: false,
  },
};

/** Nested as deep as answers may be. */
const answerDepthMax = 512;

/** Of a whole answer, or of an event that tells it. What cannot be read is the package's to refuse. */
export function withReadableUsage(text: string, api: TranslatedApi): string {
  const form = forms[api];
  const scanned = scanJson(text, { depthMax: answerDepthMax });
  if (scanned.kind !== 'json' || !scanned.json.isObject(0)) return text;
  const member = findMember(scanned.json, form.member);
  if (member === undefined && !form.isWanted) return text;
  const usage: unknown = member === undefined ? undefined : JSON.parse(scanned.json.slice(member));
  const readable = readableUsage(usage, form);
  return readable === usage ? text : rewriteMembers(scanned.json, new Map([[form.member, readable]]));
}

/** With one count that cannot be read, the others say too little: all are replaced. */
function readableUsage(usage: unknown, { required, counts }: Pick<UsageForm, 'required' | 'counts'>): Json {
  const isCount = (name: string) => isJsonObject(usage) && toCount(usage[name]) !== undefined;
  const isAbsent = (name: string) => isJsonObject(usage) && (usage[name] ?? null) === null;
  const isReadable = required.every(isCount) && counts.every((name) => isCount(name) || isAbsent(name));
  return isReadable ? (usage as Json) : Object.fromEntries([...required, ...counts].map((name) => [name, -1]));
}

/** Gemini tells its usage again in each event: only one that could be odd is looked into. */
const oddGeminiUsage = /"usageMetadata"\s*:\s*[^{\s]|"\w+TokenCount"\s*:(?!\s*\d{1,15}\s*[,}])/;

export const withReadableGeminiUsage = (text: string): string =>
  oddGeminiUsage.test(text) ? withReadableUsage(text, 'generate-content') : text;

/** Anthropic's events tell the input at the start, and the output at the end. */
export function withReadableEventUsage(event: Json): Json {
  const { type, message, usage } = event;
  if (type === 'message_start' && isJsonObject(message)) {
    const read = readableUsage(message.usage, { required: ['input_tokens'], counts: anthropicCounts });
    return { ...event, message: { ...message, usage: read } };
  }
  const form = { required: ['output_tokens'], counts: ['input_tokens', ...anthropicCounts] };
  return type === 'message_delta' ? { ...event, usage: readableUsage(usage, form) } : event;
}
