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

// Models that many people know, whose prices the page of the list shows beside those of the second source.

const names: Partial<Record<ProviderKind, readonly string[]>> = {
  openai: [
    ...['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4.1-nano', 'gpt-5', 'gpt-5-mini', 'gpt-5-nano'],
    ...['gpt-5.1', 'gpt-5.2', 'gpt-5.4', 'o3', 'o4-mini', 'text-embedding-3-small', 'text-embedding-3-large'],
  ],
  anthropic: [
    'claude-haiku-4-5',
    'claude-sonnet-4-5',
    'claude-sonnet-4-6',
    'claude-opus-4-5',
    'claude-opus-4-6',
    'claude-sonnet-5',
    'claude-opus-5',
  ],
  google: [
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    'gemini-2.5-flash-lite',
    'gemini-3-flash-preview',
    'gemini-3.1-pro-preview',
  ],
  vertex: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  bedrock: [
    'amazon.nova-micro-v1:0',
    'amazon.nova-pro-v1:0',
    'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'eu.anthropic.claude-haiku-4-5-20251001-v1:0',
  ],
  groq: ['openai/gpt-oss-120b', 'openai/gpt-oss-20b'],
  mistral: ['mistral-large-latest', 'mistral-medium-latest', 'mistral-small-latest'],
  deepseek: ['deepseek-chat', 'deepseek-reasoner'],
  xai: ['grok-4.3', 'grok-4.5'],
};

export const knownModels = Object.entries(names).flatMap(([kind, all]) =>
  all.map((name) => ({ kind: kind as ProviderKind, name })),
);
