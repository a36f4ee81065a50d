// Determines the state of each provider of each model, as one word that an operator sees first in an outage. Pure.
import type { Cooldowns, HealthFigures, Statistics } from '../provider-health/index.ts';

/** A model at one of its providers, as it is configured. */
export interface ConfiguredProvider {
  readonly model: string;
  readonly provider: string;
  /** Name of the provider's credential in counters and marks. */
  readonly account: string;
  /** Position of the credential; undefined when the provider has one. */
  readonly credential?: number | undefined;
  readonly isDisabled: boolean;
  /** True if the gateway has no credential for the provider, and skips it. */
  readonly lacksCredential: boolean;
}

/** State over the last 15 to 30 minutes, except if the operator's own settings determine it. */
export type ProviderState = 'serving' | 'failing' | 'limited' | 'refusing' | 'no credential' | 'disabled' | 'unused';

export interface ProviderHealth extends ConfiguredProvider {
  readonly state: ProviderState;
  /** Workspaces in whose plans the provider is last, or 'all', because it failed or was rate limited recently. */
  readonly coolingFor: 'all' | readonly string[];
  /** Reason in one word why the provider was not reached, if it fails or cools down for this reason. */
  readonly reason: string | undefined;
  /** Figures; undefined when no call succeeded, failed or was limited recently. */
  readonly figures: HealthFigures | undefined;
}

interface MeasuredHealth {
  readonly statistics: Statistics;
  readonly cooldowns: Pick<Cooldowns, 'coolingFor' | 'lastFailure' | 'unreached'>;
}

export function readProviderHealth(
  configured: readonly ConfiguredProvider[],
  { statistics, cooldowns }: MeasuredHealth,
): ProviderHealth[] {
  const healths = configured.map((one) => {
    const { model, account } = one;
    const entry = { model, provider: account };
    const coolingFor = cooldowns.coolingFor(entry);
    const figures = statistics.candidateFigures(model, account);
    const cause = coolingFor.length === 0 ? undefined : (cooldowns.lastFailure(entry) ?? 'failing');
    return { ...one, coolingFor, figures, state: stateOf(one, figures, cause) };
  });
  const serving = new Set(healths.flatMap(({ account, state }) => (state === 'serving' ? account : [])));
  return healths.map((health) => {
    const reason = serving.has(health.account) ? undefined : cooldowns.unreached(health.account);
    // One attempt makes no figures yet, and the provider is out of reach for its other models too.
    const state = health.state === 'unused' && reason !== undefined ? 'failing' : health.state;
    return { ...health, state, reason: state === 'failing' ? reason : undefined };
  });
}

/** Returns the state; the operator's settings outweigh recent events. `cause` is the cause of the cooldown. */
function stateOf(
  { isDisabled, lacksCredential }: ConfiguredProvider,
  figures: HealthFigures | undefined,
  cause: 'limited' | 'failing' | undefined,
): ProviderState {
  if (isDisabled) return 'disabled';
  if (lacksCredential) return 'no credential';
  // A provider that answered before its cooldown does not serve now, and figures may be older than its failure.
  if (figures === undefined) return cause ?? 'unused';
  if (cause === undefined) return figures.medianLatencyMs === undefined ? mostFrequent(figures) : 'serving';
  return mostFrequent(figures) === 'refusing' ? 'refusing' : cause;
}

/** Returns the most frequent state; of equally frequent states the state on which the operator must act. */
function mostFrequent({ unsuccessful }: HealthFigures): ProviderState {
  const { refused, rateLimited } = unsuccessful;
  const failed = unsuccessful.failed - refused;
  if (refused > 0 && refused >= Math.max(failed, rateLimited)) return 'refusing';
  return rateLimited > failed ? 'limited' : 'failing';
}
