// Packages refuse a whole answer whose usage is not as they expect it. Here such a usage is estimated, as at any provider:
// negative counts take its place, and the reader of usage drops them.

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
  /** What else is a count. */
  readonly counts: readonly string[];
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

/** With one count that cannot be read, the others say too little: all are replaced. */
export function readableUsage(usage: unknown, { required, counts }: Pick<UsageForm, 'required' | 'counts'>): Json {
  const isCount = (name: string) => isJsonObject(usage) && toCount(usage[name]) !== undefined;
  const isAbsent = (name: string) => isJsonObject(usage) && (usage[name] ?? null) === null;
  const isReadable = required.every(isCount) && counts.every((name) => isCount(name) || isAbsent(name));
  return isReadable ? (usage as Json) : Object.fromEntries([...required, ...counts].map((name) => [name, -1]));
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
