// The shipped list and the table of differences, as text: one line a model, in an order that does not depend on the source.
import {
  type ListedModel,
  listColumns,
  providerKindNames,
  toRow,
} from '../../shared/configuration/model-list/index.ts';
import { compareSources, describeDifference } from './compare-sources.ts';
import { openrouterModels } from './read-genai-prices.ts';

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
