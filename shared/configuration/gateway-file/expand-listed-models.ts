// Expands `{ from: openai, only: [gpt-5*] }` to the models that the list has of a provider's kind, each as if the file
// wrote it.
import type { CatalogueDocument, ModelDocument, ProviderDocument } from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import { isListedModels, type ListedModelsInFile, type ModelInFile } from './catalogue-schema.ts';
import { formatPath, type Path, quote, suggest } from './problems.ts';

interface ExpansionSources {
  readonly former: CatalogueDocument | undefined;
  readonly list: ModelList;
  readonly byId: ReadonlyMap<string, ProviderDocument>;
  readonly report: (path: Path, message: string) => void;
}

interface WrittenModel {
  readonly model: ModelInFile;
  readonly path: Path;
}

/** Returns the items that describe a model, and the models that items of the list add. */
export function writtenModels(
  items: readonly (ModelInFile | ListedModelsInFile)[],
  sources: ExpansionSources,
): WrittenModel[] {
  const described = new Set(items.flatMap((item) => (isListedModels(item) ? [] : item.id)));
  const byId = new Map<string, WrittenModel>();
  for (const [index, item] of items.entries()) {
    const path = ['models', index];
    if (!isListedModels(item)) {
      // A written model takes precedence over an item of the list, and has the position of that item if the item added
      // the id before.
      byId.set(item.id, { model: item, path });
      continue;
    }
    const addedModels = expandListedModels(item, path, sources);
    const [first, ...others] = addedModels.flatMap(({ id }) => (described.has(id) ? [] : (byId.get(id) ?? [])));
    if (first !== undefined) {
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      const both = `makes ${first.model.id}${more}, which ${formatPath(first.path)} makes too`;
      sources.report(path, `${both}: narrow only in one of them`);
    }
    for (const model of addedModels) if (!byId.has(model.id)) byId.set(model.id, { model, path });
  }
  return [...byId.values()];
}

export function expandListedModels(
  { from, only, as }: ListedModelsInFile,
  path: Path,
  { former, list, byId, report }: ExpansionSources,
): ModelInFile[] {
  const provider = byId.get(from);
  // A missing provider is a problem of its own.
  if (provider === undefined) return [];
  const { kind, region, apis } = provider;
  if (kind === undefined) {
    report([...path, 'from'], `has no kind, so the model list knows no models of it: write kind at provider ${from}`);
    return [];
  }
  const isServed = (name: string) => list.find(kind, name, region)?.apis.some((api) => apis.includes(api)) === true;
  const offered = list.offered(kind, region).flatMap(({ name }) => (isServed(name) ? [name] : []));
  const known = list.names(kind).filter(isServed);
  const idOf = (name: string) => (as === undefined ? `${from}/${name}` : name);
  const storedNames = (former?.models ?? []).flatMap((model) => storedName(model, from, idOf));
  if (offered.length === 0 && storedNames.length === 0) {
    report(
      [...path, 'from'],
      `the model list has no models of kind ${kind} for ${apis.join(', ')}: write each model by itself`,
    );
    return [];
  }
  const names = new Set<string>();
  for (const [index, pattern] of (only ?? ['*']).entries()) {
    const matches = matcherOf(pattern);
    // A model that has ended is available only by its whole name.
    const found = [
      ...offered.filter(matches),
      ...storedNames.filter(matches),
      ...known.filter((name) => name === pattern),
    ];
    if (found.length === 0) {
      const nearest = suggest(pattern.replaceAll('*', ''), known);
      const message = `matches no model of kind ${kind} in the model list: ${quote(pattern)}; ${nearest}`;
      report([...path, 'only', index], message);
    }
    for (const name of found) names.add(name);
  }
  // A stored model keeps its position, whatever the order of the list.
  const placeById = new Map(former?.models.map(({ id }, place) => [id, place]));
  const placeOf = ({ id }: ModelInFile) => placeById.get(id) ?? placeById.size;
  return [...names]
    .map((name) => listedModel(idOf(name), from, name))
    .sort((left, right) => placeOf(left) - placeOf(right));
}

/** Returns the name of a stored model that was filled in from an earlier list, because this model stays. */
function storedName({ id, providers }: ModelDocument, from: string, idOf: (name: string) => string): string[] {
  const [entry, ...others] = providers;
  if (entry === undefined || others.length > 0 || entry.provider !== from || entry.written === undefined) return [];
  const isWhole = !entry.written.includes('input_price_per_million') && id === idOf(entry.upstream_model);
  return isWhole ? [entry.upstream_model] : [];
}

function matcherOf(pattern: string): (name: string) => boolean {
  const shape = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const whole = new RegExp(`^${shape.join('.*')}$`);
  return (name) => whole.test(name);
}

const listedModel = (id: string, provider: string, upstream_model: string): ModelInFile => ({
  id,
  auto: false,
  providers: [
    {
      provider,
      upstream_model,
      supported_params: {},
      rate_limit_rpm: null,
      rate_limit_tpm: null,
      rate_limit_tpd: null,
    },
  ],
});
