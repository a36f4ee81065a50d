// What a provider says that an answer has used which no package reads.
import { lastObjectIn } from '../../../../protocol/interfaces/index.ts';
import { isJsonObject, type TokenReport, toCount, type UsageReport } from '../../../../protocol/wire/index.ts';

/** The count of that name, or none. */
export type Counts = (name: string) => number;

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
