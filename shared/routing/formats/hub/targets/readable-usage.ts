// Corrects usage for which a package would refuse the whole answer. An invalid count becomes negative, so that the
// reader of usage drops the object around it, and the count is estimated as at any provider.

import { lastObjectIn, scanAnswer } from '../../../../protocol/interfaces/index.ts';
import {
  findMember,
  isJsonObject,
  type JsonObject,
  rewriteMembers,
  type TokenReport,
  toCount,
  type UsageReport,
} from '../../../../protocol/wire/index.ts';

export interface UsageShape {
  readonly member: string;
  /** Counts that every report has. */
  readonly required: readonly string[];
  /** Further counts, if they are reported. */
  readonly optionalCounts: readonly string[];
  /** Counts that are parts of the required or optional ones. An invalid part becomes 0. */
  readonly subtotals: readonly string[];
  /** True if packages require the field in a whole answer. */
  readonly isUsageRequired: boolean;
}

/**
 * Corrects the usage of a whole answer, or of an event that reports it. Text that cannot be parsed stays unchanged, and
 * the package refuses it.
 */
export function withReadableUsage(text: string, shape: UsageShape): string {
  const json = scanAnswer(text);
  if (json === undefined) return text;
  const member = findMember(json, shape.member);
  if (member === undefined && !shape.isUsageRequired) return text;
  const usage: unknown = member === undefined ? undefined : JSON.parse(json.slice(member));
  const readable = acceptedUsage(usage, shape);
  return readable === usage ? text : rewriteMembers(json, new Map([[shape.member, readable]]));
}

/** A value so low that no sum with it is a valid count. */
const noCount = Number.MIN_SAFE_INTEGER;

export function acceptedUsage(
  usage: unknown,
  { required, optionalCounts, subtotals }: Pick<UsageShape, 'required' | 'optionalCounts' | 'subtotals'>,
): JsonObject {
  const fields: JsonObject = isJsonObject(usage) ? usage : {};
  const isCount = (name: string) => toCount(fields[name]) !== undefined;
  const isOdd = (name: string) => (fields[name] ?? null) !== null && !isCount(name);
  // An unreported count is zero, unless it is required.
  const isReported = required.some(isCount);
  const odd = [
    ...required.filter((name) => !isCount(name)),
    ...optionalCounts.filter((name) => isOdd(name) || (!isReported && !isCount(name))),
  ];
  const oddParts = subtotals.filter(isOdd);
  if (odd.length + oddParts.length === 0) return fields;
  // Other fields of the usage may be malformed as well, so only the counts are kept.
  const known = [...required, ...optionalCounts, ...subtotals]
    .filter(isCount)
    .map((name) => [name, fields[name]] as const);
  return Object.fromEntries([
    ...known,
    ...odd.map((name) => [name, noCount] as const),
    ...oddParts.map((name) => [name, 0] as const),
  ]);
}

// Reads the usage of an answer that no package reads.

/** Returns the count with that name, or 0. */
type Counts = (name: string) => number;

/** Reads the usage. `member` is the field of the answer. `required` is a count without which it reports nothing. */
export function reportedUsage(
  text: string,
  { member, required }: { readonly member: string; readonly required: readonly string[] },
  tokensOf: (count: Counts) => Omit<TokenReport, 'cacheWrite1h'>,
): UsageReport | undefined {
  const members = lastObjectIn(text, member);
  if (!isJsonObject(members) || required.some((name) => toCount(members[name]) === undefined)) return undefined;
  return { tokens: { cacheWrite1h: 0, ...tokensOf((name) => toCount(members[name]) ?? 0) }, members };
}
