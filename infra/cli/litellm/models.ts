// Builds the models of the gateway file. Deployments of one name are the entries of a model. LiteLLM's fallbacks become
// entries without a weight, after the entries with a weight.
import { isMapping, type Path } from '../../../shared/configuration/gateway-file/index.ts';
import { autoModelId } from '../../../shared/foundation/constants/index.ts';
import type { Deployment, ImportContext, ImportedEntry } from './deployments.ts';
import type { ImportedProviders } from './providers.ts';
import type { LiteLlmSource } from './source.ts';

interface ImportedModel {
  readonly id: string;
  readonly providers: readonly ImportedEntry[];
}
interface ListedItem {
  readonly from: string;
  readonly only?: readonly string[];
  readonly as?: 'NAME';
}
interface ImportedItem {
  readonly path: Path;
  readonly item: ImportedModel | ListedItem;
}

const weightMax = 1_000;

export function importModels(
  { source, providers }: Pick<ImportContext, 'source' | 'providers'>,
  deployments: readonly Deployment[],
): readonly ImportedItem[] {
  const groups = Map.groupBy(
    deployments.filter(({ modelName }) => !modelName.includes('*')),
    ({ modelName }) => modelName,
  );
  const fallbacks = readFallbacks(source);
  const models = [...groups].flatMap(([name, group]): readonly ImportedItem[] => {
    const [{ path } = { path: [] as Path }] = group;
    const id = idOf(source, name, path);
    if (id === undefined) return [];
    const followers = fallbacksOf(source, name, groups, fallbacks);
    return [{ path, item: { id, providers: eachOnce(providers, entriesOf(source, group, followers)) } }];
  });
  return [...models, ...aliases(source, models), ...wildcards(source, deployments)];
}

/** Returns the id of a model. Names that clients use stay as they are if the gateway accepts them. */
function idOf(source: LiteLlmSource, name: string, path: Path): string | undefined {
  if (name === autoModelId) {
    source.note(path, `is left out: ${autoModelId} is a model of the gateway itself, which chooses one`);
    return undefined;
  }
  const id = name
    .trim()
    .replace(/[^A-Za-z0-9._:/@-]+/g, '-')
    .replace(/^gw\//, 'gw-')
    .slice(0, 128);
  if (id !== name) source.note(path, `a name has letters, digits and . _ : / @ - alone: clients call it ${id}`);
  return id;
}

function entriesOf(
  source: LiteLlmSource,
  group: readonly Deployment[],
  followers: readonly ImportedEntry[],
): readonly ImportedEntry[] {
  const first = Math.min(...group.map(({ order }) => order));
  const leading = group.filter(({ order }) => order === first);
  const later = [...group.filter(({ order }) => order !== first).map(({ entry }) => entry), ...followers];
  const nameOf = ({ provider, upstream_model }: ImportedEntry) => `${provider} ${upstream_model}`;
  const names = new Set(leading.map(({ entry }) => nameOf(entry)));
  const rest = later.filter((entry) => !names.has(nameOf(entry)) && names.add(nameOf(entry)));
  const isByPrice = source.look(['router_settings', 'routing_strategy']) === 'cost-based-routing';
  const weights = leading.length + rest.length === 1 || isByPrice ? undefined : weightsOf(leading);
  return [
    ...leading.map(
      ({ entry }, at): ImportedEntry => (weights === undefined ? entry : { ...entry, weight: weights[at] }),
    ),
    ...rest,
  ];
}

/** Renames entries, because a model names a provider once. The further entries of a provider name it differently. */
function eachOnce(providers: ImportedProviders, entries: readonly ImportedEntry[]): readonly ImportedEntry[] {
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    const nth = (counts.get(entry.provider) ?? 0) + 1;
    counts.set(entry.provider, nth);
    return nth === 1 ? entry : { ...entry, provider: providers.another(entry.provider, nth) };
  });
}

/** Returns the weights by which LiteLLM distributes calls: by weight, else by requests per minute, else equally. */
function weightsOf(group: readonly Deployment[]): readonly number[] {
  const written = group.map(({ weight }) => weight);
  const limits = group.map(({ entry }) => entry.rate_limit_rpm as number | undefined);
  const shares = written.some((weight) => weight !== undefined)
    ? written.map((weight) => weight ?? 1)
    : limits.map((limit) => (limits.every((one) => one !== undefined) ? (limit ?? 1) : 1));
  const largest = Math.max(...shares);
  const scale = largest > weightMax ? weightMax / largest : shares.every(Number.isInteger) ? 1 : 100;
  return shares.map((share) => Math.min(weightMax, Math.max(1, Math.round(share * scale))));
}

interface Fallbacks {
  readonly byName: ReadonlyMap<string, readonly string[]>;
  readonly others: readonly string[];
}

const settings = ['router_settings', 'litellm_settings'] as const;

/**
 * Reads fallbacks, including fallbacks for a longer context, because the gateway skips an entry whose context is too
 * short.
 */
function readFallbacks(source: LiteLlmSource): Fallbacks {
  const byName = new Map<string, readonly string[]>();
  for (const section of settings) {
    for (const member of ['fallbacks', 'context_window_fallbacks']) {
      const written = source.use([section, member]);
      const items = (Array.isArray(written) ? written : [written]).filter(isMapping);
      for (const [name, names] of items.flatMap((item) => Object.entries(item))) {
        const followers = (Array.isArray(names) ? names : [names]).filter((one) => typeof one === 'string');
        byName.set(name, [...new Set([...(byName.get(name) ?? []), ...followers])]);
      }
    }
  }
  const others = settings.flatMap((section) => source.use([section, 'default_fallbacks']) ?? []);
  return { byName, others: [...(byName.get('*') ?? []), ...others].filter((one) => typeof one === 'string') };
}

function fallbacksOf(
  source: LiteLlmSource,
  name: string,
  groups: ReadonlyMap<string, readonly Deployment[]>,
  { byName, others }: Fallbacks,
): readonly ImportedEntry[] {
  const names = (byName.get(name) ?? others).filter((one) => one !== name);
  const [section = 'router_settings'] = settings.filter((one) => source.look([one, 'fallbacks']) !== undefined);
  const place: Path = [section, 'fallbacks'];
  const unknown = names.filter((one) => !groups.has(one));
  if (unknown.length > 0) source.note(place, `of ${name} no model of the file is called ${unknown.join(', ')}`);
  if (names.length > 1)
    source.note(place, `those of ${name} are tried by price, the cheapest first, not as they are written`);
  return names.flatMap((one) => (groups.get(one) ?? []).map(({ entry }) => entry));
}

/** Reads `model_group_alias`, which gives the same entries another name. */
function aliases(source: LiteLlmSource, models: readonly ImportedItem[]): readonly ImportedItem[] {
  const place: Path = ['router_settings', 'model_group_alias'];
  return Object.entries(source.mapping(place)).flatMap(([alias, target]): readonly ImportedItem[] => {
    const path: Path = [...place, alias];
    source.use(path);
    const [name] = [isMapping(target) ? target.model : target].flat();
    if (isMapping(target) && target.hidden === true) source.note(path, 'is listed: no model of the gateway is hidden');
    if (Array.isArray(target) && target.length > 1)
      source.note(path, `means ${name} alone: write the others as its entries`);
    const model = models.find(({ item }) => 'id' in item && item.id === name)?.item;
    const id = idOf(source, alias, path);
    if (id === undefined || models.some(({ item }) => 'id' in item && item.id === id)) return [];
    if (model === undefined || !('id' in model)) {
      source.note(path, 'is left out: no model of the file has the name that it means');
      return [];
    }
    return [{ path, item: { id, providers: model.providers } }];
  });
}

/** Resolves names with `*` to the models that the model list has of the provider. */
function wildcards(source: LiteLlmSource, deployments: readonly Deployment[]): readonly ImportedItem[] {
  return deployments.flatMap(({ modelName, named, path, provider }): readonly ImportedItem[] => {
    if (!modelName.includes('*')) return [];
    if (provider.kind === undefined) {
      source.note(
        path,
        `${modelName} is left out: no list knows the models of this provider, write those that are called`,
      );
      return [];
    }
    const only = named.name === '*' ? {} : { only: [named.name] };
    const isPrefixed = modelName === `${provider.id}/${named.name}`;
    const isBare = modelName === named.name || modelName === '*';
    if (!isPrefixed && !isBare) {
      source.note(path, `${modelName}: clients call these models ${provider.id}/NAME`);
    }
    const alone = isBare ? ({ as: 'NAME' } as const) : {};
    return [{ path, item: { from: provider.id, ...only, ...alone } }];
  });
}
