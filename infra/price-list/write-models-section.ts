// The section `models` of a gateway file as text, with a comment wherever a person has to look.
import { Document, isMap, isSeq, type YAMLMap } from 'yaml';
import type { ListedModel, PriceList } from './read-price-list.ts';

export interface SectionOptions {
  /** Lines at the head of it. */
  readonly source: readonly string[];
  /** The id that the provider has in the gateway file. */
  readonly provider: string;
  /** In place of `regional.`, by which the list names the models that Amazon Bedrock serves in one region or group of them. */
  readonly region: string | undefined;
}

const regional = /^regional\./;
const unknownLength = ' check: not in the list, so the context length; a call holds as many tokens of output';
const unknownAbilities = ' check: not in the list; true for what the model can do';

export function writeModelsSection({ models, leftOut }: PriceList, options: SectionOptions): string {
  const document = new Document({ models: models.map((model) => entryOf(model, options)) });
  const reasons = Map.groupBy(leftOut, ({ reason }) => reason);
  const missing = [...reasons].map(([reason, all]) => `left out (${reason}): ${all.map(({ id }) => id).join(', ')}`);
  document.commentBefore = comment([...options.source, ...missing]);
  const list = document.get('models');
  if (!isSeq<YAMLMap>(list)) throw new Error('the models are a list');
  for (const [index, item] of list.items.entries()) {
    const checks = checksOf(models[index], options);
    if (checks.length > 0) item.commentBefore = comment(checks.map((check) => `check: ${check}`));
    const entry = item.getIn(['providers', 0]);
    if (isMap(entry)) markUnknown(document, entry);
  }
  return document.toString({ lineWidth: 0 });
}

const comment = (lines: readonly string[]): string => lines.map((line) => ` ${line}`).join('\n');

function entryOf({ id, name, contextLength, prices }: ListedModel, { provider, region }: SectionOptions) {
  const upstream_model = region === undefined ? id : id.replace(regional, `${region}.`);
  return {
    id: `${provider}/${id.replace(regional, '')}`,
    ...(name === undefined ? {} : { display_name: name }),
    context_length: contextLength,
    providers: [
      {
        provider,
        upstream_model,
        ...prices,
        max_output_tokens: contextLength,
        supported_params: { tools: false, vision: false, json_mode: false, json_schema: false },
      },
    ],
  };
}

const checksOf = (model: ListedModel | undefined, { region }: SectionOptions): string[] => [
  ...(model?.checks ?? []),
  ...(model !== undefined && regional.test(model.id) && region === undefined
    ? ['upstream_model: write the prefix of your region, such as eu., in place of regional.']
    : []),
];

function markUnknown(document: Document, entry: YAMLMap): void {
  const length = document.createNode(entry.get('max_output_tokens'));
  const abilities = document.createNode(entry.get('supported_params'));
  length.comment = unknownLength;
  abilities.comment = unknownAbilities;
  if (isMap(abilities)) abilities.flow = true;
  entry.set('max_output_tokens', length);
  entry.set('supported_params', abilities);
}
