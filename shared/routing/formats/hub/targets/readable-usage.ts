// Packages refuse a whole answer whose usage is not as they expect it. Here what is no count is estimated, as at any provider: a
// negative one takes its place, and the reader of usage drops what it is part of.

import { lastObjectIn, scanAnswer } from '../../../../protocol/interfaces/index.ts';
import {
  findMember,
  isJsonObject,
  rewriteMembers,
  type TokenReport,
  toCount,
  type UsageReport,
} from '../../../../protocol/wire/index.ts';
import type { Json } from './body-members.ts';

export interface UsageForm {
  readonly member: string;
  /** Counts without which nothing is reported. */
  readonly required: readonly string[];
  /** What else is a count, where it is told. */
  readonly counts: readonly string[];
  /** Parts of those: one that is no count is none. */
  readonly parts: readonly string[];
  /** Packages want it in a whole answer. */
  readonly isWanted: boolean;
}

/** Of a whole answer, or of an event that tells it. What cannot be read is the package's to refuse. */
export function withReadableUsage(text: string, form: UsageForm): string {
  const json = scanAnswer(text);
  if (json === undefined) return text;
  const member = findMember(json, form.member);
  if (member === undefined && !form.isWanted) return text;
  const usage: unknown = member === undefined ? undefined : JSON.parse(json.slice(member));
  const readable = readableUsage(usage, form);
  return readable === usage ? text : rewriteMembers(json, new Map([[form.member, readable]]));
}

/** No sum with it is a count. */
const noCount = Number.MIN_SAFE_INTEGER;

export function readableUsage(
  usage: unknown,
  { required, counts, parts }: Pick<UsageForm, 'required' | 'counts' | 'parts'>,
): Json {
  const told: Json = isJsonObject(usage) ? usage : {};
  const isCount = (name: string) => toCount(told[name]) !== undefined;
  const isOdd = (name: string) => (told[name] ?? null) !== null && !isCount(name);
  // What is not told is nothing, but where what must be told is not.
  const isTold = required.some(isCount);
  const odd = [
    ...required.filter((name) => !isCount(name)),
    ...counts.filter((name) => isOdd(name) || (!isTold && !isCount(name))),
  ];
  const oddParts = parts.filter(isOdd);
  if (odd.length + oddParts.length === 0) return told;
  // Details beside them may be odd as well.
  const known = [...required, ...counts, ...parts].filter(isCount).map((name) => [name, told[name]] as const);
  return Object.fromEntries([
    ...known,
    ...odd.map((name) => [name, noCount] as const),
    ...oddParts.map((name) => [name, 0] as const),
  ]);
}

// What a provider says that an answer has used which no package reads.

/** The count of that name, or none. */
type Counts = (name: string) => number;

/** `member`: of the answer. `required`: a count without which it reports nothing. */
export function reportedUsage(
  text: string,
  { member, required }: { readonly member: string; readonly required: readonly string[] },
  tokensOf: (count: Counts) => Omit<TokenReport, 'cacheWrite1h'>,
): UsageReport | undefined {
  const members = lastObjectIn(text, member);
  if (!isJsonObject(members) || required.some((name) => toCount(members[name]) === undefined)) return undefined;
  return { tokens: { cacheWrite1h: 0, ...tokensOf((name) => toCount(members[name]) ?? 0) }, members };
}
