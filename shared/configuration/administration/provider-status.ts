// Switches providers on and off. Running gateways read the status with the catalogue's pointer, so a change reaches all
// of them without a deployment or a restart.
import type { ConfiguredProvider } from '../../accounting/reports/index.ts';
import { nearestOf } from '../../errors/index.ts';
import {
  accountOf,
  type CalledProvider,
  type CatalogueDocument,
  type ProviderDocument,
  poolOf,
} from '../catalogue/index.ts';
import { ChangeFailed, refuseAs } from './change-failed.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'catalogues' | 'clock'>;
type Status = ProviderDocument['status'];

interface StatusChange {
  readonly isChange: boolean;
  /** Models that no enabled provider would serve. */
  readonly unserved: readonly string[];
  /**
   * Writes the change. Returns whether something was written, because another operator may have been faster. Throws
   * ChangeFailed.
   */
  write(): Promise<'changed' | 'unchanged'>;
}

/** Returns the effect of the change; nothing is written yet. Throws ChangeFailed. */
export async function planProviderStatus(
  { catalogues, clock }: Dependencies,
  id: string,
  status: Status,
): Promise<StatusChange> {
  const document = await catalogues.read();
  if (document === undefined) throw new ChangeFailed('absent', 'there are no providers: apply a gateway file first');
  const provider = document.providers.find((known) => known.id === id);
  if (provider === undefined) throw absent(id, hint(document, id));
  return {
    isChange: provider.status !== status,
    unserved: status === 'disabled' ? onlyServedBy(document, id) : [],
    async write() {
      const writing = catalogues.write((former) => withStatus(former, id, status), clock.nowMs());
      const { change } = await writing.catch(refuseAs('conflict'));
      return change === 'unchanged' ? 'unchanged' : 'changed';
    },
  };
}

export const modelsServedBy = (document: CatalogueDocument | undefined, id: string): string[] =>
  document?.models.flatMap(({ id: model, providers }) =>
    providers.some(({ provider }) => provider === id) ? [model] : [],
  ) ?? [];

/**
 * Returns each model at each of its providers, once per credential. `lacksCredential` says whether the gateway skips
 * the provider.
 */
export function configuredProviders(
  document: CatalogueDocument | undefined,
  lacksCredential: (provider: CalledProvider) => boolean,
): ConfiguredProvider[] {
  const byId = new Map(document?.providers.map((provider) => [provider.id, provider]));
  return (document?.models ?? []).flatMap(({ id: model, providers }) =>
    providers.flatMap(({ provider: id }) => {
      const provider = byId.get(id);
      if (provider === undefined) return [];
      return poolOf(provider).map((credential) => ({
        model,
        provider: id,
        account: accountOf(credential),
        credential: credential.credential,
        isDisabled: credential.status === 'disabled',
        lacksCredential: lacksCredential(credential),
      }));
    }),
  );
}

const absent = (id: string, hint = '') => new ChangeFailed('absent', `there is no provider ${id}${hint}`);

function hint({ providers }: CatalogueDocument, id: string): string {
  const known = providers.map((provider) => provider.id);
  const nearest = nearestOf(id, known);
  return nearest === undefined ? `; there are ${known.join(', ') || 'none'}` : `; did you mean ${nearest}?`;
}

/** Returns the models that no other enabled provider serves. */
function onlyServedBy({ providers, models }: CatalogueDocument, id: string): string[] {
  const enabled = new Set(providers.flatMap((provider) => (provider.status === 'enabled' ? [provider.id] : [])));
  return models.flatMap(({ id: model, providers: entries }) => {
    const serving = entries.map(({ provider }) => provider);
    return serving.includes(id) && !serving.some((other) => other !== id && enabled.has(other)) ? [model] : [];
  });
}

/**
 * Returns the catalogue with the new status. Throws if the provider is gone, because the file may have been applied
 * again in between.
 */
function withStatus(former: CatalogueDocument | undefined, id: string, status: Status): CatalogueDocument {
  if (former?.providers.some((provider) => provider.id === id) !== true) throw absent(id);
  return {
    ...former,
    providers: former.providers.map((provider) => (provider.id === id ? { ...provider, status } : provider)),
  };
}
