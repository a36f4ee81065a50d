// Models with their prices by provider, and the health of each provider: its state and figures of the last minutes,
// whether it cools, and the use of its limits.
import { connectionFaultText } from '../../../../shared/foundation/constants/index.ts';
import type { ViewAddress } from '../connection/address.ts';
import type { Health, LimitUse, Provider, ProviderModel } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { Button } from '../parts/button.tsx';
import { Search, searchOf } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { PagedTable } from '../parts/paged-table.tsx';
import { count, milliseconds, none, share } from '../parts/shown-values.ts';
import { Shown } from '../parts/states.tsx';
import type { TableColumn } from '../parts/table.tsx';
import { ProviderSwitches } from './provider-switches.tsx';
import { StoredModels } from './stored-models.tsx';

const howToConfigure = 'Add them to the gateway file, in the view Configuration.';

export const ModelsView = ({ address }: { readonly address: ViewAddress }) => {
  const search = searchOf(address);
  const providers = useManaged('GET /providers', { query: { search, limit: '200' } });
  const models = useManaged('GET /models', { query: { search } });
  const reload = () => {
    providers.reload();
    models.reload();
  };
  return (
    <>
      <search class="filters">
        <Search address={address} />
        <Button text="Refresh" onClick={reload} />
      </search>
      <h2>Providers</h2>
      <Shown loaded={providers}>{({ data }) => <ProviderSwitches providers={data} reload={reload} />}</Shown>
      <h2>Provider health</h2>
      <PagedTable
        caption="Providers at each of their models"
        loaded={providers}
        columns={providerColumns}
        rowsOf={(all) => all.flatMap((provider) => provider.models.map((one): ProviderRow => ({ ...one, provider })))}
        keyOf={({ provider, credential, model }) => `${provider.id} ${credential} ${model}`}
        empty={() => `There is no provider that serves a model. ${howToConfigure}`}
        moreTitle="More providers"
      />
      <h2>Models</h2>
      <StoredModels
        loaded={models}
        empty={search === undefined ? `There is no model. ${howToConfigure}` : 'No model has this text.'}
      />
    </>
  );
};

interface ProviderRow extends ProviderModel {
  readonly provider: Provider;
}

const providerColumns: readonly TableColumn<ProviderRow>[] = [
  {
    title: 'Provider',
    show: ({ provider: { id, display_name }, credential }) => (
      <span class="lines">
        <Link view="calls" parameters={{ provider: id }} text={id} />
        <span class="muted">{credential === undefined ? display_name : `credential ${credential}`}</span>
      </span>
    ),
  },
  { title: 'Model', show: ({ model }) => model },
  { title: 'State', show: (row) => <State health={row} /> },
  { title: 'Uptime', isNumber: true, show: ({ uptime }) => (uptime === null ? none : share(uptime, 1)) },
  { title: 'Latency p50', isNumber: true, show: ({ median_latency_ms }) => milliseconds(median_latency_ms) },
  { title: 'Calls per minute', isNumber: true, show: ({ throughput_rpm }) => count(throughput_rpm) },
  { title: 'Limits used', show: ({ limits }) => <Limits limits={limits} /> },
];

/** Reasons of a cooldown. */
const reasons: Readonly<Partial<Record<Health['state'], string>>> = {
  failing: ': calls to it failed',
  limited: ': it is at its limit',
  refusing: ': it refuses the credential',
};

/** Its state, and for whom it cools and why: it is then called last. */
const State = ({ health: { state, reason, is_cooling, cooling_for } }: { readonly health: Health }) => (
  <span class="lines">
    <span class={`state ${state.replaceAll(' ', '-')}`}>{state}</span>
    {reason !== null && <span>{connectionFaultText(reason)}</span>}
    {is_cooling && (
      <span>
        cooling for {cooling_for === 'all' ? 'all' : cooling_for.join(', ')}
        {reasons[state]}
      </span>
    )}
  </span>
);

const limitTitles = { rpm: 'requests per minute', tpm: 'tokens per minute', tpd: 'tokens per day' };

const Limits = ({ limits }: Pick<ProviderModel, 'limits'>) => {
  const used = Object.entries(limits).filter((entry): entry is [keyof typeof limits, LimitUse] => entry[1] !== null);
  if (used.length === 0) return <>{none}</>;
  return (
    <span class="lines">
      {used.map(([name, use]) => (
        <span key={name}>
          {count(use.used)} of {count(use.limit)} {limitTitles[name]}
        </span>
      ))}
    </span>
  );
};
