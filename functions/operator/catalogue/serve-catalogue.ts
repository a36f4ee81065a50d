// Serves /v1/manage/models: the catalogue with the field names of the gateway file, the state of each provider, and the
// differences from the model list.
import type { ProviderHealth } from '../../../shared/accounting/reports/index.ts';
import type { CatalogueDocument, ModelDocument } from '../../../shared/configuration/catalogue/index.ts';
import type { ListDifference } from '../../../shared/configuration/gateway-file/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import type { Operator } from '../request/identify-operator.ts';
import { namesOf, type RouteWork } from '../request/manage.ts';
import { pageOf } from '../request/pages.ts';
import { healthDocument, readHealths } from './serve-providers.ts';

/** Loads the model list and a YAML parser, which few requests need. */
const loadGatewayFile = () => import('../../../shared/configuration/gateway-file/index.ts');

export const listCatalogue: RouteWork<'GET /models'> = async (deps, { operator, query }) => {
  const document = await deps.catalogues.read();
  const healths = await readHealths(deps, document);
  const useOf = query.order === 'use' ? useIn(healths) : () => '';
  const { items, next_cursor } = pageOf(
    document?.models ?? [],
    query,
    ({ id }) => [useOf(id), id],
    ({ id, display_name, providers: entries }) => [
      id,
      display_name,
      ...entries.flatMap(({ provider, upstream_model }) => [provider, upstream_model]),
    ],
  );
  const providers = document?.providers ?? [];
  const differences = await differencesOf(document, items);
  const facts = { providers, healths, differences, operator };
  return { data: items.map((model) => modelDocument(model, facts)), next_cursor };
};

const notCallable: readonly ProviderHealth['state'][] = ['disabled', 'no credential'];

/**
 * Returns a function that ranks a model by its best provider: 0 for a recently called provider, 1 for another callable
 * provider, 2 without a callable provider.
 */
function useIn(healths: readonly ProviderHealth[]): (model: string) => string {
  const ranks = new Map<string, number>();
  for (const { model, state } of healths) {
    const rank = notCallable.includes(state) ? 2 : state === 'unused' ? 1 : 0;
    ranks.set(model, Math.min(rank, ranks.get(model) ?? 2));
  }
  return (model) => String(ranks.get(model) ?? 2);
}

async function differencesOf(document: CatalogueDocument | undefined, models: readonly ModelDocument[]) {
  if (document === undefined || models.length === 0) return [];
  const { shippedListDifferences } = await loadGatewayFile();
  return shippedListDifferences({ ...document, models: [...models] });
}

interface ModelDocuments {
  readonly providers: CatalogueDocument['providers'];
  readonly healths: readonly ProviderHealth[];
  readonly differences: readonly ListDifference[];
  readonly operator: Operator;
}

const modelDocument = (
  model: ModelDocument,
  { providers, healths, differences, operator }: ModelDocuments,
): Documents['ManagedModel'] => ({
  ...model,
  providers: model.providers.map((entry) => {
    const offerHealths = healths.filter((one) => one.model === model.id && one.provider === entry.provider);
    // A provider is usable if one of its credentials works.
    const health = offerHealths.find(({ state }) => state === 'serving') ?? offerHealths[0];
    const { model: _model, ...state } = health === undefined ? { model: '' } : healthDocument(health, operator);
    const provider = providers.find(({ id }) => id === entry.provider);
    return { ...entry, apis: entry.apis ?? provider?.apis ?? [], ...state };
  }),
  differences: differences.filter((one) => one.model === model.id).map(differenceDocument),
});

const differenceDocument = ({ provider, member, stored, listed, isWritten }: ListDifference) => ({
  provider: provider ?? null,
  member,
  stored: stored ?? null,
  listed: listed ?? null,
  written_in_file: isWritten,
});

/** Applies prices, bounds, features, modalities and interfaces from the model list of this release. */
export const takeListOver: RouteWork<'POST /models/update'> = async (deps, request) => {
  const { models } = request.body;
  const isDry = request.query.dry_run === 'true';
  const { planListUpdate } = await loadGatewayFile();
  const { listDate, differences, write } = await planListUpdate(deps.catalogues, models);
  if (!isDry) await write(deps.clock.nowMs());
  const changedModels = [...new Set(differences.map(({ model }) => model))];
  if (!isDry && changedModels.length > 0)
    request.tellChange(`model list of ${listDate} taken over`, namesOf(changedModels));
  const data: Documents['ManagedListUpdate'] = {
    list_date: listDate,
    models: changedModels,
    differences: differences.map((one) => ({ model: one.model, ...differenceDocument(one) })),
  };
  return { data };
};
