// How each provider of each model does, in one word: what an operator sees first in an outage.
import {
  createCooldowns,
  createStatisticsReader,
  type Figures,
  type Statistics,
} from '../../../shared/accounting/provider-health/index.ts';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import type { Session } from '../args/session.ts';
import type { Field } from '../output/table.ts';
import { readCredentialFacts } from '../target/credential-facts.ts';
import { withoutWrites } from '../target/dry-run-store.ts';
import type { OpenTarget } from '../target/open-target.ts';
import { storesOn } from '../target/stores.ts';

interface ProviderHealth {
  readonly model: string;
  readonly provider: string;
  readonly isDisabled: boolean;
  /** The gateway has no credential for it, and passes it over. */
  readonly lacksCredential: boolean;
  /** It failed or was rate limited lately, and stands at the end of the plans of these workspaces, or of all. */
  readonly coolingFor: 'all' | readonly string[];
  /** Undefined: no call succeeded, failed or was limited lately. */
  readonly figures: Figures | undefined;
}

/** Of every provider of the applied catalogue. `notes`: what is missing where, one line each. */
export async function readProviderHealth(session: Session, opened: OpenTarget) {
  const { store } = opened;
  const { catalogues } = storesOn(store);
  const pointer = await catalogues.readPointer();
  const document = pointer === undefined ? undefined : await catalogues.readDocument(pointer);
  const all = document?.providers ?? [];
  const cooldowns = createCooldowns({ store, clock: session.clock });
  const [statistics, credentials] = await Promise.all([
    readStatistics(store, session.clock),
    readCredentialFacts(session, opened, all),
    cooldowns.refresh(),
  ]);
  const byId = new Map(all.map((provider) => [provider.id, provider]));
  const isDisabled = (id: string) => byId.get(id)?.status === 'disabled';
  const missing = (provider: ProviderDocument | undefined) => provider && credentials.missing(provider);
  const providers = (document?.models ?? []).flatMap(({ id: model, providers }) =>
    providers.map(
      ({ provider }): ProviderHealth => ({
        model,
        provider,
        isDisabled: isDisabled(provider),
        lacksCredential: missing(byId.get(provider)) !== undefined,
        coolingFor: cooldowns.coolingFor({ model, provider }),
        figures: statistics.ofCandidate(model, provider),
      }),
    ),
  );
  const lacking = all.filter((provider) => provider.status === 'enabled' && missing(provider) !== undefined);
  const notes = [
    ...lacking.map((provider) => `provider ${provider.id} has no credential: ${missing(provider)}`),
    ...(credentials.unknown === undefined ? [] : [`credentials could not be looked at: ${credentials.unknown}`]),
  ];
  return { version: pointer?.version, statistics, providers, notes };
}

/**
 * Where the shared statistics are old, new ones are computed here, on a store that takes no write. A request would wait
 * for a second at most; an operator waits until they are there.
 */
async function readStatistics(store: Store, clock: Clock): Promise<Statistics> {
  const reader = createStatisticsReader({ store: withoutWrites(store), clock });
  await reader.current();
  await reader.settled();
  return reader.current();
}

type ProviderState = 'serving' | 'failing' | 'limited' | 'refusing' | 'no credential' | 'disabled' | 'unused';

/** What the operator decided or forgot counts more than what happened in the last 15 to 30 minutes. */
function stateOf(health: ProviderHealth): ProviderState {
  const { isDisabled, lacksCredential, figures } = health;
  if (isDisabled) return 'disabled';
  if (lacksCredential) return 'no credential';
  if (figures === undefined) return 'unused';
  // A provider that answered before it cooled does not serve now.
  if (figures.medianLatencyMs !== undefined && !isCooling(health)) return 'serving';
  return mostFrequent(figures);
}

const isCooling = ({ coolingFor }: ProviderHealth): boolean => coolingFor.length > 0;

/** Undefined: it cools for all, or not at all. */
const coolingWorkspaces = ({ coolingFor }: ProviderHealth): string | undefined =>
  coolingFor === 'all' || coolingFor.length === 0 ? undefined : coolingFor.join(', ');

/** Of equals the one that the operator must act on. */
function mostFrequent({ unsuccessful }: Figures): ProviderState {
  if (unsuccessful === undefined) return 'failing';
  const { refused, rateLimited } = unsuccessful;
  const failed = unsuccessful.failed - refused;
  if (refused > 0 && refused >= Math.max(failed, rateLimited)) return 'refusing';
  return rateLimited > failed ? 'limited' : 'failing';
}

export const providerFields: readonly Field<ProviderHealth>[] = [
  { member: 'model', title: 'model', isFlexible: true, value: ({ model }) => model },
  { member: 'provider', title: 'provider', isFlexible: true, value: ({ provider }) => provider },
  { member: 'state', title: 'state', value: stateOf },
  {
    member: 'cooling',
    title: 'cooling',
    value: isCooling,
    shown: (health) => coolingWorkspaces(health) ?? isCooling(health),
  },
  { member: 'cooling_for', value: (health) => coolingWorkspaces(health) ?? (isCooling(health) ? 'all' : undefined) },
  { member: 'median_latency_ms', title: 'median ms', align: 'right', value: (p) => p.figures?.medianLatencyMs },
  { member: 'throughput_rpm', title: 'per minute', align: 'decimal', value: ({ figures }) => figures?.throughputRpm },
  { member: 'uptime', title: 'uptime', align: 'decimal', value: ({ figures }) => figures?.uptime },
];
