// `usage` in the words of OpenAI's formats: counts, and details of them.
import { withUsualNames } from '../../../../protocol/interfaces/chat-completions/index.ts';
import { lastObjectIn } from '../../../../protocol/interfaces/index.ts';
import { isJsonObject, mediaIn, toCount, type UsageReport } from '../../../../protocol/wire/index.ts';
import type { Json } from './body-members.ts';
import { readableUsage } from './readable-usage.ts';

export interface OpenAiUsageForm {
  /** Without which nothing is reported. */
  readonly required: readonly string[];
  /** What of which count is told apart. */
  readonly details: Readonly<Record<string, readonly string[]>>;
  /** The same under the names that are looked for. */
  readonly renamed?: (usage: Json) => Json;
}

const mediaNames = ['audio_tokens', 'image_tokens'];

export const responseUsage: OpenAiUsageForm = {
  required: ['input_tokens', 'output_tokens'],
  details: {
    input_tokens_details: ['cached_tokens', 'cache_write_tokens', ...mediaNames],
    output_tokens_details: ['reasoning_tokens', ...mediaNames],
  },
};

export const chatUsage: OpenAiUsageForm = {
  required: ['prompt_tokens', 'completion_tokens'],
  details: {
    prompt_tokens_details: ['cached_tokens', 'cache_write_tokens', 'cache_write_1h_tokens', ...mediaNames],
    completion_tokens_details: ['reasoning_tokens', ...mediaNames],
  },
  renamed: withUsualNames,
};

/** What of it a package can read, and nothing else. Undefined: nothing was reported. */
export function readableOpenAiUsage(
  reported: unknown,
  { required, details, renamed = (usage) => usage }: OpenAiUsageForm,
): Json | undefined {
  if (!isJsonObject(reported)) return undefined;
  const usage = renamed(reported);
  const counts = readableUsage(usage, { required, counts: [] });
  const told = Object.entries(details).map(([member, names]) => {
    const of = isJsonObject(usage[member]) ? usage[member] : {};
    return [
      member,
      Object.fromEntries(names.flatMap((name) => (toCount(of[name]) === undefined ? [] : [[name, of[name]]]))),
    ];
  });
  return { ...Object.fromEntries(required.map((name) => [name, counts[name]])), ...Object.fromEntries(told) };
}

/** Of a whole answer that no package reads. Undefined: it reports nothing. */
export function openAiUsageIn(text: string, form: OpenAiUsageForm): UsageReport | undefined {
  const members = readableOpenAiUsage(lastObjectIn(text, 'usage'), form);
  const [input, output] = form.required.map((name) => toCount(members?.[name]));
  if (members === undefined || input === undefined || output === undefined) return undefined;
  const [ofInput, ofOutput] = Object.keys(form.details).map((name) => members[name]);
  const details = Object.assign({}, ofInput, ofOutput) as Json;
  const count = (name: string) => toCount(details[name]) ?? 0;
  const [cached, cacheWrite, reasoning] = ['cached_tokens', 'cache_write_tokens', 'reasoning_tokens'].map(count);
  return {
    tokens: {
      input,
      cached: cached ?? 0,
      cacheWrite: cacheWrite ?? 0,
      cacheWrite1h: 0,
      output,
      reasoning: reasoning ?? 0,
      media: mediaIn(ofInput, ofOutput),
    },
    members,
  };
}
