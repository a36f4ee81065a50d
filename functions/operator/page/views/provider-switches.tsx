// Providers on and off. It says which models have no provider then.
import { useState } from 'preact/hooks';
import type { Provider, Single, Switched } from '../connection/documents.ts';
import { useRights } from '../connection/session-rights.ts';
import { Failure } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { useChange } from '../parts/use-change.ts';

interface ProviderSwitchesProperties {
  readonly providers: readonly Provider[];
  readonly reload: () => void;
}

export const ProviderSwitches = ({ providers, reload }: ProviderSwitchesProperties) => {
  const maySwitch = useRights().holdsInAll('editor');
  const { isChanging, failure, run } = useChange();
  const [note, setNote] = useState<string>();
  const change = async ({ id, status }: Provider) => {
    setNote(undefined);
    const path = `providers/${encodeURIComponent(id)}/${status === 'enabled' ? 'disable' : 'enable'}`;
    const answer = await run<Single<Switched>>(path, { method: 'POST' });
    if (answer === undefined) return;
    const unserved = answer.data.models_without_provider;
    if (unserved.length > 0) setNote(`No provider serves now: ${unserved.join(', ')}`);
    reload();
  };
  return (
    <>
      {failure && <Failure failure={failure} />}
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
          { title: 'Status', show: ({ status }) => status },
          ...(maySwitch
            ? [
                {
                  title: 'Actions',
                  show: (provider: Provider) => (
                    <button
                      type="button"
                      class={provider.status === 'enabled' ? 'danger' : ''}
                      disabled={isChanging}
                      aria-label={`${provider.status === 'enabled' ? 'Disable' : 'Enable'} provider ${provider.id}`}
                      onClick={() => void change(provider)}
                    >
                      {provider.status === 'enabled' ? 'Disable' : 'Enable'}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
    </>
  );
};
