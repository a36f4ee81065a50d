// How the providers of the applied catalogue fare. Reads only: where the shared statistics are old, new ones are made
// here, on a store that takes no write.
import {
  createCooldowns,
  createStatisticsReader,
  type MeasuredFigures,
  type Statistics,
} from '../../shared/accounting/provider-health/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { withoutWrites } from './dry-run-store.ts';
import type { Stores } from './stores.ts';

export interface ProviderHealth {
  readonly model: string;
  readonly provider: string;
  /** It failed or asked for patience lately, and stands at the end of every plan. */
  readonly isCooling: boolean;
  /** Undefined: no call succeeded lately. */
  readonly figures: MeasuredFigures | undefined;
}

export interface Health {
  /** Undefined: no gateway file was applied yet. */
  readonly catalogueVersion: string | undefined;
  /** When the counts were read; undefined: they could not be, in time. */
  readonly measuredAtMs: number | undefined;
  readonly providers: readonly ProviderHealth[];
}

export async function readProviderHealth(
  store: Store,
  { catalogues }: Pick<Stores, 'catalogues'>,
  clock: Clock,
): Promise<Health> {
  const catalogueVersion = await catalogues.readVersion();
  const document = catalogueVersion === undefined ? undefined : await catalogues.readBody(catalogueVersion);
  const cooldowns = createCooldowns({ store, clock });
  const [statistics] = await Promise.all([readStatistics(withoutWrites(store), clock), cooldowns.refresh()]);
  const entries = (document?.models ?? []).flatMap(({ id, providers }) =>
    providers.map(({ provider }) => ({ model: id, provider })),
  );
  return {
    catalogueVersion,
    measuredAtMs: statistics.measuredAtMs,
    providers: entries.map((entry) => ({
      ...entry,
      isCooling: cooldowns.isCooling(entry),
      figures: statistics.of(entry.model, entry.provider),
    })),
  };
}

/** A request would wait for a second at most; an operator waits until they are made. */
async function readStatistics(store: Store, clock: Clock): Promise<Statistics> {
  const reader = createStatisticsReader({ store, clock });
  await reader.current();
  await reader.settled();
  return reader.current();
}
