// Switches providers on and off, and lists the models without a provider then.
import { useState } from 'preact/hooks';
import type { Provider } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { LastAlert } from '../parts/last-alert.tsx';
import { Failure } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface ProviderSwitchesProperties {
  readonly providers: readonly Provider[];
  readonly reload: () => void;
}

export const ProviderSwitches = ({ providers, reload }: ProviderSwitchesProperties) => {
  const maySwitch = useRights().holdsInAll('editor');
  const { isRunning, failure, run } = useRequests();
  const [note, setNote] = useState<string>();
  const change = async ({ id, status }: Provider) => {
    setNote(undefined);
    const action = status === 'enabled' ? 'disable' : 'enable';
    const answer = await run(() => manage(`POST /providers/{id}/${action}`, { names: { id } }));
    if (answer === undefined) return;
    const unserved = answer.data.models_without_provider;
    if (unserved.length > 0) setNote(`No provider serves now: ${unserved.join(', ')}`);
    reload();
  };
  const switchOf = (provider: Provider) => {
    const action = provider.status === 'enabled' ? 'Disable' : 'Enable';
    return (
      <Button
        text={action}
        kind={action === 'Disable' ? 'danger' : undefined}
        disabled={isRunning}
        label={`${action} provider ${provider.id}`}
        onClick={() => change(provider)}
      />
    );
  };
  return (
    <>
      <Failure failure={failure} />
      {note && (
        <p class="note" role="status">
          {note}
        </p>
      )}
      <Table
        caption="Providers"
        rows={providers}
        keyOf={({ id }) => id}
        empty="There is no provider."
        columns={[
          { title: 'Provider', show: ({ id }) => id },
          { title: 'Name', show: ({ display_name }) => display_name },
          { title: 'Base URL', show: ({ base_url }) => <code>{base_url}</code> },
          {
            title: 'Status',
            show: ({ status, last_alert }) => (
              <span class="lines">
                {status}
                <LastAlert of={last_alert?.state} alert={last_alert} />
              </span>
            ),
          },
          ...(maySwitch ? [{ title: 'Actions', show: switchOf }] : []),
        ]}
      />
    </>
  );
};
