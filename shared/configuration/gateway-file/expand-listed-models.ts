// `{ from: openai, only: [gpt-5*] }`: the models that the list has of a provider's kind, each as if the file wrote it.
import type { CatalogueDocument, ModelDocument, ProviderDocument } from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import type { ListedModelsInFile, ModelInFile } from './catalogue-schema.ts';
import { type Path, quote, suggest } from './problems.ts';

export interface ExpansionSources {
  readonly former: CatalogueDocument | undefined;
  readonly list: ModelList;
  readonly byId: ReadonlyMap<string, ProviderDocument>;
  readonly report: (path: Path, message: string) => void;
}

export function expandListedModels(
  { from, only }: ListedModelsInFile,
  path: Path,
  { former, list, byId, report }: ExpansionSources,
): ModelInFile[] {
  const provider = byId.get(from);
  // A provider that is not there is a problem of its own.
  if (provider === undefined) return [];
  const { kind, region, apis } = provider;
  if (kind === undefined) {
    report([...path, 'from'], `has no kind, so the model list knows no models of it: write kind at provider ${from}`);
    return [];
  }
  const isServed = (name: string) => list.find(kind, name, region)?.apis.some((api) => apis.includes(api)) === true;
  const offered = list.offered(kind, region).flatMap(({ name }) => (isServed(name) ? [name] : []));
  const known = list.names(kind).filter(isServed);
  const stored = (former?.models ?? []).flatMap((model) => storedName(model, from));
  if (offered.length === 0 && stored.length === 0) {
    report([...path, 'from'], `the model list has no models of kind ${kind}: write each model by itself`);
    return [];
  }
  const names = new Set<string>();
  for (const [index, pattern] of (only ?? ['*']).entries()) {
    const matches = matcherOf(pattern);
    // An ended model is available by its whole name alone.
    const found = [...offered.filter(matches), ...stored.filter(matches), ...known.filter((name) => name === pattern)];
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
    .map((name) => listedModel(`${from}/${name}`, from, name))
    .sort((left, right) => placeOf(left) - placeOf(right));
}

/** A model that an earlier list had stays: the name of one that was filled in from it. */
function storedName({ id, providers }: ModelDocument, from: string): string[] {
  const [entry, ...others] = providers;
  if (entry === undefined || others.length > 0 || entry.provider !== from || entry.written === undefined) return [];
  const isWhole = !entry.written.includes('input_price_per_million') && id === `${from}/${entry.upstream_model}`;
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
