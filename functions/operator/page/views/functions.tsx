// Lists the stored functions: the active revision of each, and the actions of operators.
import { useState } from 'preact/hooks';
import { goTo } from '../connection/address.ts';
import type { StoredFunction } from '../connection/documents.ts';
import { changeFunction, type FunctionAction } from '../connection/function-changes.ts';
import { useManagementRequest } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { none } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { type TableColumn, textColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { DisableFunction } from './disable-function.tsx';
import { PublishRevision } from './publish-revision.tsx';

type ChangeFunction = (one: StoredFunction, wanted: FunctionAction) => Promise<void>;

export const FunctionsView = () => {
  const loaded = useManagementRequest('GET /functions', { query: { limit: '200' } });
  const { isRunning, failure, run } = useRequests();
  const change: ChangeFunction = async (one, wanted) => {
    if ((await run(() => changeFunction(one, wanted))) !== undefined) loaded.reload();
  };
  const [isMaking, setIsMaking] = useState(false);
  const [disabling, setDisabling] = useState<StoredFunction>();
  const rights = useRights();
  return (
    <>
      {rights.holds('editor') && (
        <div class="filters">
          <Button text="Make a function" kind="main" onClick={() => setIsMaking(true)} />
        </div>
      )}
      {isMaking && (
        <PublishRevision
          close={() => setIsMaking(false)}
          saved={({ workspace, id }, activate = '') => goTo('function', { workspace, id, activate })}
        />
      )}
      <Failure failure={failure} />
      <PagedTable
        caption="Stored functions"
        loaded={loaded}
        columns={columns(({ workspace }) => rights.holds('editor', workspace), isRunning, change, setDisabling)}
        rowsOf={allRows}
        keyOf={({ workspace, id }) => `${workspace}/${id}`}
        empty={() => 'There is no stored function. Make one here, or write it in the gateway file of its workspace.'}
        moreTitle="More functions"
      />
      {disabling && (
        <DisableFunction
          target={disabling}
          close={() => setDisabling(undefined)}
          done={() => {
            setDisabling(undefined);
            loaded.reload();
          }}
        />
      )}
    </>
  );
};

const columns = (
  mayChange: (one: StoredFunction) => boolean,
  isRunning: boolean,
  change: ChangeFunction,
  askToDisable: (one: StoredFunction) => void,
): readonly TableColumn<StoredFunction>[] => [
  {
    title: 'Function',
    value: ({ id }) => id,
    show: ({ workspace, id }) => <Link view="function" parameters={{ workspace, id }} text={`gw/function/${id}`} />,
  },
  textColumn('Workspace', ({ workspace }) => workspace),
  textColumn('Kind', ({ kind }) => kind),
  textColumn('Status', ({ status }) => status),
  textColumn('Serving', ({ active }) => active),
  {
    title: 'Revision',
    show: (one) => (mayChange(one) ? <Activation one={one} isRunning={isRunning} change={change} /> : none),
  },
  {
    title: 'Actions',
    show: (one) => {
      if (!mayChange(one)) return none;
      const action = one.status === 'disabled' ? 'enable' : 'disable';
      return (
        <Button
          text={action === 'enable' ? 'Enable' : 'Disable'}
          kind={action === 'disable' ? 'danger' : undefined}
          disabled={isRunning}
          label={`${action} ${one.id}`}
          onClick={() => (action === 'disable' ? askToDisable(one) : change(one, action))}
        />
      );
    },
  },
];

interface ActivationProperties {
  readonly one: StoredFunction;
  readonly isRunning: boolean;
  readonly change: ChangeFunction;
}

const Activation = ({ one, isRunning, change }: ActivationProperties) => {
  const { id, active, revisions } = one;
  const [chosen, setChosen] = useState(active ?? revisions[0]?.id ?? '');
  const revision = revisions.find((known) => known.id === chosen);
  return (
    <span class="actions">
      <select
        value={chosen}
        aria-label={`Revision of ${id}`}
        onChange={({ currentTarget }) => setChosen(currentTarget.value)}
      >
        {revisions.map((known) => (
          <option key={known.id} value={known.id}>
            {known.id}, {known.state}
          </option>
        ))}
      </select>
      <Button
        text="Activate"
        label={`Activate ${chosen} of ${id}`}
        disabled={isRunning || chosen === active || revision === undefined}
        onClick={() => change(one, { activate: chosen })}
      />
      {revision?.expires_at && (
        <span class="muted">
          expires <Time instant={revision.expires_at} />
        </span>
      )}
    </span>
  );
};
