// Price differences between two lists, for review before a refreshed list is shipped.
import type { ListedModel, ListedPrices } from '../../shared/configuration/model-list/index.ts';
import { findSecondPrices } from './read-genai-prices.ts';

interface Comparison {
  /** Models that both lists price. */
  readonly compared: number;
  readonly same: number;
  readonly differences: readonly SourceDifference[];
}

interface SourceDifference {
  readonly kind: string;
  readonly name: string;
  readonly member: string;
  readonly listed: string;
  readonly second: string;
}

export function compareSources(models: readonly ListedModel[], nowMs: number): Comparison {
  const compared = models.flatMap((model) => {
    // OpenRouter's prices come from the second list.
    const second = model.kind === 'openrouter' ? undefined : findSecondPrices(model.kind, model.name, nowMs);
    return second === undefined ? [] : [{ model, second }];
  });
  const differences = compared.flatMap(({ model, second }) => [
    ...differencesOf(model, '', model.prices, second.prices),
    ...model.tiers.flatMap((tier) => {
      const other = second.tiers.find(({ abovePromptTokens }) => abovePromptTokens === tier.abovePromptTokens);
      return other === undefined ? [] : differencesOf(model, ` above ${tier.abovePromptTokens}`, tier, other);
    }),
  ]);
  const differing = new Set(differences.map(({ kind, name }) => `${kind} ${name}`));
  return { compared: compared.length, same: compared.length - differing.size, differences };
}

const members = ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWrite1h'] as const;

/** A price that only one of them has is no difference. */
const differencesOf = (
  { kind, name }: ListedModel,
  where: string,
  listed: ListedPrices,
  second: ListedPrices,
): SourceDifference[] =>
  members.flatMap((member) => {
    const [one, other] = [listed[member], second[member]];
    if (one === undefined || other === undefined || Number(one) === Number(other)) return [];
    // Priced by something else than tokens.
    if (Number(one) === 0) return [];
    return [{ kind, name, member: `${member}${where}`, listed: one, second: other }];
  });

export const describeDifference = ({ kind, name, member, listed, second }: SourceDifference): string =>
  `| ${kind} | ${name} | ${member} | ${listed} | ${second} |`;
