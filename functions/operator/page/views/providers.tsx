// Lists the providers: the state of each in one line, its health at each of its models below, and the switch that ends
// calls to it.

import { useEffect, useState } from 'preact/hooks';
import { connectionFaultText } from '../../../../shared/foundation/constants/index.ts';
import type { Health, LimitUse, Provider, ProviderModel } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { LastAlert } from '../parts/last-alert.tsx';
import { LatelyUsed } from '../parts/lately-used.tsx';
import { Link } from '../parts/link.tsx';
import { count, milliseconds, none, share } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface ProviderTableProperties {
  readonly providers: readonly Provider[];
  /** The searched text. A provider without this text is listed with its matching models only. */
  readonly search: string | undefined;
  readonly reload: () => void;
  readonly empty: string;
}

export const ProviderTable = ({ providers, search, reload, empty }: ProviderTableProperties) => {
  const maySwitch = useRights().holdsInAll('editor');
  const { isRunning, failure, run } = useRequests();
  const [selection, setSelection] = useState<Provider>();
  const enable = async ({ id }: Provider) => {
    if ((await run(() => manage('POST /providers/{id}/enable', { names: { id } }))) !== undefined) reload();
  };
  const switchOf = (provider: Provider) => {
    const isOn = provider.status === 'enabled';
    return (
      <Button
        text={isOn ? 'Disable' : 'Enable'}
        kind={isOn ? 'danger' : undefined}
        disabled={isRunning}
        label={`${isOn ? 'Disable' : 'Enable'} provider ${provider.id}`}
        onClick={() => (isOn ? setSelection(provider) : enable(provider))}
      />
    );
  };
  const actions: TableColumn<Provider> = { title: 'Actions', show: switchOf };
  return (
    <>
      <Failure failure={failure} />
      <Table
        caption="Providers"
        rows={providers}
        keyOf={({ id }) => id}
        empty={empty}
        columns={maySwitch ? [...columns, actions] : columns}
        fold={{
          title: ({ id }) => `Models at ${id}`,
          show: (provider) => <ModelHealth provider={provider} search={search} />,
        }}
      />
      {selection && (
        <DisableProvider
          provider={selection}
          close={() => setSelection(undefined)}
          done={() => {
            setSelection(undefined);
            reload();
          }}
        />
      )}
    </>
  );
};

/** States, sorted from the state that needs the operator most to the least important state. */
const states = ['refusing', 'failing', 'limited', 'no credential', 'disabled', 'serving', 'unused'];
const urgency = ({ state }: Health): number => (states.includes(state) ? states.indexOf(state) : 0);
const mostUrgent = (one: Health, other: Health): number => urgency(one) - urgency(other);

const namedModels = 2;
const silentStates = ['serving', 'unused', 'disabled', 'no credential'];

/** Shows a line for each state: `serving at 3 models, failing at acme/large`. */
const States = ({ models }: Pick<Provider, 'models'>) => {
  const present = states.filter((state) => models.some((one) => one.state === state));
  if (present.length === 0) return <>{none}</>;
  return (
    <span class="lines">
      {present.map((state) => {
        const at = models.filter((one) => one.state === state).map(({ model }) => model);
        const namedModelIds = silentStates.includes(state) ? [] : at.slice(0, namedModels);
        const others = at.length - namedModelIds.length;
        const rest = others === 0 ? [] : [`${count(others)}${namedModelIds.length > 0 ? ' more' : ''}`];
        return (
          <span key={state}>
            <span class={`state ${state.replaceAll(' ', '-')}`}>{state}</span>{' '}
            <span class="muted">at {[...namedModelIds, ...rest].join(', ')}</span>
          </span>
        );
      })}
    </span>
  );
};

const columns: readonly TableColumn<Provider>[] = [
  {
    title: 'Provider',
    value: ({ id }) => id,
    show: ({ id, display_name }) => (
      <span class="lines">
        <Link view="calls" parameters={{ provider: id }} text={id} />
        <span class="muted">{display_name}</span>
      </span>
    ),
  },
  {
    title: 'Models',
    value: ({ models }) => Math.min(states.length, ...models.map(urgency)),
    show: ({ models }) => <States models={models} />,
  },
  { title: 'Base URL', value: ({ base_url }) => base_url, show: ({ base_url }) => <code>{base_url}</code> },
  {
    title: 'Status',
    value: ({ status }) => status,
    show: ({ status, last_alert }) => (
      <span class="lines">
        {status}
        <LastAlert subject={last_alert?.state} alert={last_alert} />
      </span>
    ),
  },
];

/** Shows the health at each model. Called models, and models in trouble, come first. */
const ModelHealth = ({
  provider,
  search = '',
}: {
  readonly provider: Provider;
  readonly search?: string | undefined;
}) => {
  const { id, display_name, base_url, models } = provider;
  const has = (text: string) => text.toLowerCase().includes(search.toLowerCase());
  const found = [id, display_name, base_url].some(has) ? models : models.filter(({ model }) => has(model));
  return (
    <Table
      caption={`Health of ${id} at its models`}
      rows={found.toSorted(mostUrgent)}
      keyOf={({ model, credential }) => `${credential} ${model}`}
      empty="It serves no model."
      columns={healthColumns}
    />
  );
};

const healthColumns: readonly TableColumn<ProviderModel>[] = [
  {
    title: 'Model',
    value: ({ model }) => model,
    show: ({ model, credential }) => (
      <span class="lines">
        {model}
        {credential !== undefined && <span class="muted">credential {credential}</span>}
      </span>
    ),
  },
  { title: 'State', value: urgency, show: (row) => <State health={row} /> },
  {
    title: 'Uptime',
    isNumber: true,
    value: ({ uptime }) => uptime,
    show: ({ uptime }) => (uptime === null ? none : share(uptime, 1)),
  },
  {
    title: 'Latency p50',
    isNumber: true,
    value: ({ median_latency_ms }) => median_latency_ms,
    show: ({ median_latency_ms }) => milliseconds(median_latency_ms),
  },
  {
    title: 'Calls per minute',
    isNumber: true,
    value: ({ throughput_rpm }) => throughput_rpm,
    show: ({ throughput_rpm }) => count(throughput_rpm),
  },
  { title: 'Limits used', show: ({ limits }) => <Limits limits={limits} /> },
];

/** Names the reasons for a cooldown. */
const reasons: Readonly<Partial<Record<Health['state'], string>>> = {
  failing: ': calls to it failed',
  limited: ': it is at its limit',
  refusing: ': it refuses the credential',
};

/** Shows the state, and for whom and why the provider cools down. A provider that cools down is called last. */
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

interface DisableProviderProperties {
  readonly provider: Provider;
  readonly close: () => void;
  readonly done: () => void;
}

const DisableProvider = ({ provider: { id }, close, done }: DisableProviderProperties) => {
  const names = { id };
  const planned = useDryRun(() => manage('POST /providers/{id}/disable', { names, query: { dry_run: 'true' } }));
  return (
    <ConfirmDialog
      title={`Disable provider ${id}?`}
      act="Disable"
      send={() => manage('POST /providers/{id}/disable', { names })}
      close={close}
      done={done}
    >
      <p>No call goes to it from the next seconds on, of any workspace.</p>
      <Failure failure={planned.failure} />
      {planned.answer && <Unserved models={planned.answer.data.models_without_provider} />}
      <LatelyUsed filter={{ provider: id }} />
    </ConfirmDialog>
  );
};

/** Requests the effect of a step once. */
function useDryRun<Answer>(ask: () => Promise<Answer>) {
  const { failure, run } = useRequests();
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => void run(ask).then(setAnswer), []);
  return { answer, failure };
}

const Unserved = ({ models }: { readonly models: readonly string[] }) =>
  models.length === 0 ? (
    <p>Every model that it serves has another provider.</p>
  ) : (
    <>
      <p>No other provider serves these models, whose calls are refused then:</p>
      <ul aria-label="Models without a provider">
        {models.slice(0, shownModels).map((model) => (
          <li key={model}>{model}</li>
        ))}
        {models.length > shownModels && <li>and {count(models.length - shownModels)} more</li>}
      </ul>
    </>
  );

const shownModels = 10;
