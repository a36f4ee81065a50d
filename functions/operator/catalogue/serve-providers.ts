// Serves GET /v1/manage/providers: the health of each provider at each of its models, and the use of its limits.
import { readLastOfProvider } from '../../../shared/accounting/alerts/index.ts';
import { readLimitUse } from '../../../shared/accounting/limits/index.ts';
import { awaitStatistics, cooldownItem } from '../../../shared/accounting/provider-health/index.ts';
import { type ProviderHealth, readProviderHealth } from '../../../shared/accounting/reports/index.ts';
import { configuredProviders, planProviderStatus } from '../../../shared/configuration/administration/index.ts';
import {
  accountOf,
  type CalledProvider,
  type CatalogueDocument,
  type ProviderDocument,
  poolOf,
} from '../../../shared/configuration/catalogue/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { mayRead } from '../request/allowed.ts';
import type { Operator } from '../request/identify-operator.ts';
import type { RouteWork } from '../request/manage.ts';
import { pageOf } from '../request/pages.ts';

export const listProviders: RouteWork<'GET /providers'> = async (deps, { operator, query }) => {
  const document = await deps.catalogues.read();
  const { items, next_cursor } = pageOf(
    document?.providers ?? [],
    query,
    ({ id }) => [id],
    // A search also matches the models that the provider serves.
    ({ id, display_name, base_url }) => [
      id,
      display_name,
      base_url,
      ...(document?.models ?? []).flatMap((model) =>
        model.providers.some(({ provider }) => provider === id) ? [model.id] : [],
      ),
    ],
  );
  const healths = await readHealths(deps, document);
  const data = await mapParallel(items, parallelReads, (item) => show(deps, document, item, healths, operator));
  return { data, next_cursor };
};

export const switchProvider =
  (status: ProviderDocument['status']): RouteWork<'POST /providers/{id}/enable'> =>
  async (deps, { names: { id }, query, tellChange }) => {
    const { isChange, unserved, write } = await planProviderStatus(deps, id, status);
    if (isChange && query.dry_run !== 'true') {
      await write();
      tellChange(`provider ${status}`, id);
    }
    return { data: { id, status, models_without_provider: [...unserved] } };
  };

export async function readHealths(
  { statistics, cooldowns, credentials }: ManagementDependencies,
  document: CatalogueDocument | undefined,
): Promise<ProviderHealth[]> {
  const lacksCredential = (provider: CalledProvider) =>
    credentials !== undefined && credentials.find(provider) === undefined;
  const [current] = await Promise.all([awaitStatistics(statistics), cooldowns.refresh()]);
  return readProviderHealth(configuredProviders(document, lacksCredential), { statistics: current, cooldowns });
}

async function show(
  { store, clock, cooldowns }: ManagementDependencies,
  document: CatalogueDocument | undefined,
  provider: ProviderDocument,
  healths: readonly ProviderHealth[],
  operator: Operator,
): Promise<Documents['ManagedProvider']> {
  const { id, display_name, status, base_url, data_policy } = provider;
  const providerHealths = healths.filter((health) => health.provider === id);
  const models = await mapParallel(providerHealths, parallelReads, async (health) => {
    const entry = document?.models
      .find((model) => model.id === health.model)
      ?.providers.find((one) => one.provider === id);
    const limits = {
      rpm: entry?.rate_limit_rpm ?? null,
      tpm: entry?.rate_limit_tpm ?? null,
      tpd: entry?.rate_limit_tpd ?? null,
    };
    const use = await readLimitUse(store, { provider: health.account, model: health.model }, limits, clock.nowMs());
    const { credential } = health;
    return { ...healthDocument(health, operator), ...(credential && { credential }), limits: use };
  });
  const marks = poolOf(provider).map((credential) => cooldowns.noted(cooldownItem.markPrefix + accountOf(credential)));
  const last = readLastOfProvider(marks);
  const last_alert = last && {
    ...{ state: last.state, model: last.model },
    ...{ at: instantOf(last.atMs), is_delivered: last.isDelivered },
  };
  return { id, display_name, status, base_url, data_policy, last_alert, models };
}

/** Describes the health over the last 15 to 30 minutes. */
export const healthDocument = ({ model, state, reason, coolingFor, figures }: ProviderHealth, operator: Operator) => ({
  model,
  state,
  reason: reason ?? null,
  is_cooling: coolingFor === 'all' || coolingFor.some((workspace) => mayRead(operator, workspace)),
  /** `all`, or the workspaces for which the provider cools down. An empty list means that it does not cool down. */
  cooling_for: coolingFor === 'all' ? coolingFor : coolingFor.filter((workspace) => mayRead(operator, workspace)),
  median_latency_ms: figures?.medianLatencyMs ?? null,
  throughput_rpm: figures?.throughputRpm ?? null,
  uptime: figures?.uptime ?? null,
});
