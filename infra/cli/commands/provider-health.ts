// Reads the health of each provider of each model, for `status`.
import { calledName } from '../../../shared/accounting/call-records/index.ts';
import {
  awaitStatistics,
  createCooldowns,
  createStatisticsReader,
} from '../../../shared/accounting/provider-health/index.ts';
import { type ProviderHealth, readProviderHealth } from '../../../shared/accounting/reports/index.ts';
import { configuredProviders } from '../../../shared/configuration/administration/index.ts';
import { type CalledProvider, poolOf } from '../../../shared/configuration/catalogue/index.ts';
import { connectionFaultText } from '../../../shared/foundation/constants/index.ts';
import { withoutWrites } from '../../../shared/storage/store/index.ts';
import type { Session } from '../args/session.ts';
import type { Field } from '../output/table.ts';
import { readCredentialStatus } from '../target/credential-status.ts';
import type { OpenTarget } from '../target/open-store.ts';
import { openAdministration } from '../target/stores.ts';

/** Reads the health of every provider of the applied catalogue. `notes` are lines about missing credentials. */
export async function readProviders(session: Session, opened: OpenTarget) {
  const { store } = opened;
  const { catalogues } = await openAdministration(session);
  const pointer = await catalogues.readPointer();
  const document = pointer === undefined ? undefined : await catalogues.readDocument(pointer);
  const all = document?.providers ?? [];
  const cooldowns = createCooldowns({ store, clock: session.clock });
  const [statistics, credentials] = await Promise.all([
    // If the shared statistics are old, this command computes new statistics on a store that accepts no write.
    awaitStatistics(createStatisticsReader({ store: withoutWrites(store), clock: session.clock })),
    readCredentialStatus(session, opened, all),
    cooldowns.refresh(),
  ]);
  const missing = (provider: CalledProvider) => credentials.missing(provider);
  const configured = configuredProviders(document, (provider) => missing(provider) !== undefined);
  const providers = readProviderHealth(configured, { statistics, cooldowns });
  const accounts = all.flatMap(poolOf);
  const unreached = new Map(
    providers.flatMap(({ reason, ...one }) => (reason === undefined ? [] : [[calledName(one), reason]])),
  );
  const lacking = accounts.filter((provider) => provider.status === 'enabled' && missing(provider) !== undefined);
  const notes = [
    ...[...unreached].map(([name, reason]) => `provider ${name} is not reached: ${connectionFaultText(reason)}`),
    ...lacking.map(
      (provider) =>
        `provider ${calledName({ ...provider, provider: provider.id })} has no credential: ${missing(provider)}`,
    ),
    ...(credentials.unknown === undefined ? [] : [`credentials could not be looked at: ${credentials.unknown}`]),
  ];
  return { version: pointer?.version, statistics, document, called: accounts, missing, providers, notes };
}

const isCooling = ({ coolingFor }: ProviderHealth): boolean => coolingFor.length > 0;

/** Returns undefined if the provider cools down for all workspaces, or for no workspace. */
const coolingWorkspaces = ({ coolingFor }: ProviderHealth): string | undefined =>
  coolingFor === 'all' || coolingFor.length === 0 ? undefined : coolingFor.join(', ');

export const providerFields: readonly Field<ProviderHealth>[] = [
  { member: 'model', title: 'model', isFlexible: true, value: ({ model }) => model },
  {
    member: 'provider',
    title: 'provider',
    isFlexible: true,
    value: ({ provider }) => provider,
    shown: calledName,
  },
  { member: 'credential', value: ({ credential }) => credential },
  { member: 'state', title: 'state', value: ({ state }) => state },
  { member: 'reason', value: ({ reason }) => reason },
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
