// The shipped list and the page of differences, as text: one line a model, in an order that does not depend on the source.
import {
  type ListedModel,
  type ListedPrices,
  listColumns,
  type ProviderKind,
  providerKindNames,
  toRow,
} from '../../shared/configuration/model-list/index.ts';
import { compareSources, describeDifference } from './compare-sources.ts';
import { knownModels } from './known-models.ts';
import { findSecondPrices, openrouterModels } from './read-genai-prices.ts';

export interface ListOrigin {
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
  const { compared, same, differences } = compareSources(models, nowMs);
  const lines = [
    '# The two sources beside each other',
    '',
    'Written by `npm run model-list`.',
    '',
    '## Known models',
    '',
    'USD per million tokens: input / output / cached input of the list, then of the second source.',
    '',
    '| kind | model | listed | second source |',
    '| --- | --- | --- | --- |',
    ...knownModels.map(({ kind, name }) => knownLine(models, kind, name, nowMs)),
    '',
    '## Where they disagree',
    '',
    `Of ${models.length} models, ${compared} are priced by both lists, ${same} of them alike (${date}). The list has the first price.`,
    `${differences.length} prices differ: by date (a change that one list has not seen), by region, or by a fault of one of them.`,
    '',
    '| kind | model | price | listed | second source |',
    '| --- | --- | --- | --- | --- |',
    ...differences.map(describeDifference),
  ];
  return { document, comparison: `${lines.join('\n')}\n` };
}

function knownLine(models: readonly ListedModel[], kind: ProviderKind, name: string, nowMs: number): string {
  const listed = models.find((model) => model.kind === kind && model.name === name);
  const second = findSecondPrices(kind, name, nowMs);
  const shown = (prices: ListedPrices | undefined) =>
    prices === undefined ? '?' : `${prices.input} / ${prices.output} / ${prices.cachedInput ?? '–'}`;
  return `| ${kind} | ${name} | ${shown(listed?.prices)} | ${shown(second?.prices)} |`;
}
