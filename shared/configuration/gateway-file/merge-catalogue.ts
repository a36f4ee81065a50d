// The catalogue of a start: what the file has changed since it was applied last, on what operators have stored since.
// Pure. All three catalogues are complete, so that a field that a file omits has the same value in both of its versions.
import type { JsonObject } from '../../protocol/wire/index.ts';
import type { CatalogueDocument, ModelDocument, ModelProviderDocument } from '../catalogue/index.ts';
import { isSame } from './complete-entry.ts';
import { isMapping } from './yaml-source.ts';

/** `former`: of the file as it was applied last. `next`: of the file now. */
interface CatalogueVersions<Part> {
  readonly former: Part;
  readonly next: Part;
  readonly stored: Part;
}

export function mergeCatalogue({ former, next, stored }: CatalogueVersions<CatalogueDocument>): CatalogueDocument {
  const providers = mergeItems('id', former.providers, next.providers, stored.providers, mergeFields);
  const guardrails = mergeItems(
    'id',
    former.guardrails ?? [],
    next.guardrails ?? [],
    stored.guardrails ?? [],
    mergeFields,
  );
  const listed = isSame(former.listed, next.listed) ? stored.listed : next.listed;
  const models = mergeItems('id', former.models, next.models, stored.models, mergeModel);
  return {
    service: mergeFields({ former: former.service, next: next.service, stored: stored.service }),
    providers,
    models: withProviders(models, new Set(providers.map(({ id }) => id))),
    ...(guardrails.length === 0 ? {} : { guardrails }),
    ...(listed === undefined ? {} : { listed }),
  };
}

/** Fields that hold one of several forms: parts of two of them would be none. */
const wholeFields: readonly string[] = ['auth', 'alerts'];

type FieldMerge = <Part extends object>(versions: CatalogueVersions<Part>) => Part;

const mergeFields: FieldMerge = ({ former, next, stored }) => {
  const [before, after, current] = [former, next, stored] as unknown as [JsonObject, JsonObject, JsonObject];
  // The fields of one kind are none of another.
  if (before.kind !== after.kind || current.kind !== after.kind) return isSame(before, after) ? stored : next;
  const names = new Set([...Object.keys(current), ...Object.keys(after)]);
  const fields = [...names].flatMap((name): [string, unknown][] => {
    const versions = { former: before[name], next: after[name], stored: current[name] };
    const value = mergeValue(name, versions);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(fields) as typeof next;
};

function mergeValue(name: string, { former, next, stored }: CatalogueVersions<unknown>): unknown {
  if (isSame(former, next)) return stored;
  const isByField = !wholeFields.includes(name) && isMapping(former) && isMapping(next) && isMapping(stored);
  return isByField ? mergeFields({ former, next, stored }) : next;
}

/**
 * An item that the file changed comes back where operators removed it; one that it did not change stays removed. An order
 * of the file that changed is that of the items, those of operators last.
 */
function mergeItems<Name extends string, Item extends { readonly [name in Name]: string }>(
  name: Name,
  former: readonly Item[],
  next: readonly Item[],
  stored: readonly Item[],
  merge: (versions: CatalogueVersions<Item>) => Item,
): Item[] {
  const byName = (items: readonly Item[]) => new Map(items.map((item) => [item[name], item]));
  const [before, after, current] = [byName(former), byName(next), byName(stored)];
  const isOrderSame = isSame([...before.keys()], [...after.keys()]);
  const [first, second] = isOrderSame ? [current, after] : [after, current];
  return [...new Set([...first.keys(), ...second.keys()])].flatMap((key) => {
    const versions = { former: before.get(key), next: after.get(key), stored: current.get(key) };
    const item = mergeItem(versions, merge);
    return item === undefined ? [] : [item];
  });
}

function mergeItem<Item>(
  { former, next, stored }: CatalogueVersions<Item | undefined>,
  merge: (versions: CatalogueVersions<Item>) => Item,
): Item | undefined {
  if (former === undefined && next === undefined) return stored;
  if (former === undefined || next === undefined) return next;
  if (stored === undefined) return isSame(former, next) ? undefined : next;
  return merge({ former, next, stored });
}

type Listable = Pick<ModelDocument | ModelProviderDocument, 'written'>;

function mergeModel({ former, next, stored }: CatalogueVersions<ModelDocument>): ModelDocument {
  const providers = mergeItems('provider', former.providers, next.providers, stored.providers, mergeListable);
  return { ...mergeListable({ former, next, stored }), providers };
}

/** With the origin of each value, the file or the model list, beside it. */
function mergeListable<Part extends Listable & object>(versions: CatalogueVersions<Part>): Part {
  const { former, next, stored } = versions;
  const merged = mergeFields(versions);
  if (isSame(former.written, next.written) && isSame(former, next)) return merged;
  const [before, after] = [valuesOf(former), valuesOf(next)];
  const isOfFile = (name: string) =>
    !isSame(before[name], after[name]) || isWritten(former, name) !== isWritten(next, name);
  const names = new Set([...(stored.written ?? []), ...(next.written ?? [])]);
  const written = [...names].filter((name) => isWritten(isOfFile(name) ? next : stored, name));
  const { written: _merged, ...rest } = merged;
  return (next.written === undefined && stored.written === undefined ? rest : { ...rest, written }) as Part;
}

const isWritten = ({ written }: Listable, name: string): boolean => written?.includes(name) === true;

const valuesOf = (part: object): JsonObject => {
  const { supported_params: params, ...values } = part as JsonObject;
  return { ...values, ...(params as JsonObject | undefined) };
};

/** A provider that the file took away takes the entries with it that operators gave it. */
const withProviders = (models: readonly ModelDocument[], ids: ReadonlySet<string>): ModelDocument[] =>
  models.flatMap((model) => {
    const providers = model.providers.filter(({ provider }) => ids.has(provider));
    return providers.length === 0 && model.providers.length > 0 ? [] : [{ ...model, providers }];
  });
