// Writes the shipped list and the table of differences as text, with one line a model, in an order that does not depend
// on the source.
import {
  type ListedModel,
  type ListedPrices,
  listColumns,
  providerKindNames,
  toRow,
} from '../../shared/configuration/model-list/index.ts';
import { findSecondPrices, openrouterModels } from './read-genai-prices.ts';

interface ListOrigin {
  readonly source: string;
  readonly nowMs: number;
}

export function writeListDocument(
  listed: readonly ListedModel[],
  { source, nowMs }: ListOrigin,
): { readonly document: string; readonly comparison: string } {
  const models = [...listed, ...openrouterModels(listed, nowMs)].toSorted(
    (a, b) => providerKindNames.indexOf(a.kind) - providerKindNames.indexOf(b.kind) || (a.name < b.name ? -1 : 1),
  );
  const date = new Date(nowMs).toISOString().slice(0, 10);
  const head = { date, source, licence: 'MIT', columns: listColumns };
  const rows = models.map((model) => JSON.stringify(toRow(model))).join(',\n');
  const document = `${JSON.stringify(head, null, 1).slice(0, -2)},\n "models": [\n${rows}\n]\n}\n`;
  return { document, comparison: comparisonOf(models, nowMs) };
}

export function comparisonOf(models: readonly ListedModel[], nowMs: number): string {
  const { compared, same, differences } = compareSources(models, nowMs);
  const date = new Date(nowMs).toISOString().slice(0, 10);
  const lines = [
    'Prices in which the two sources disagree, in USD per million tokens.',
    '',
    `Of ${models.length} models, ${compared} are priced by both lists, ${same} of them alike (${date}). The list has the first price.`,
    `${differences.length} prices differ: by date (a change that one list has not seen), by region, or by a fault of one of them.`,
    '',
    '| kind | model | price | listed | second source |',
    '| --- | --- | --- | --- | --- |',
    ...differences.map(describeDifference),
  ];
  return `${lines.join('\n')}\n`;
}

// Price differences between two lists, for review before a refreshed list is shipped.

interface Comparison {
  /** Number of models that both lists price. */
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

function compareSources(models: readonly ListedModel[], nowMs: number): Comparison {
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

/** Lists differences. A price that is missing in a list is not a difference. */
const differencesOf = (
  { kind, name }: ListedModel,
  where: string,
  listed: ListedPrices,
  second: ListedPrices,
): SourceDifference[] =>
  members.flatMap((member) => {
    const [one, other] = [listed[member], second[member]];
    if (one === undefined || other === undefined || Number(one) === Number(other)) return [];
    // This model is priced by something other than tokens.
    if (Number(one) === 0) return [];
    return [{ kind, name, member: `${member}${where}`, listed: one, second: other }];
  });

const describeDifference = ({ kind, name, member, listed, second }: SourceDifference): string =>
  `| ${kind} | ${name} | ${member} | ${listed} | ${second} |`;
