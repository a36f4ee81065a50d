// Workspaces: their credit and its history, limits, policy and models. Owners change them.
import { useState } from 'preact/hooks';
import { listedCounts, workspaceSettings } from '../../../../shared/configuration/settings/index.ts';
import type { Workspace } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { LastAlert } from '../parts/last-alert.tsx';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { none } from '../parts/shown-values.ts';
import { amountColumn, countColumn, sizeOf, type TableColumn } from '../parts/table.tsx';
import { CreditDialog } from './workspace-credit.tsx';
import { WorkspaceForm } from './workspace-form.tsx';

type Task = { readonly kind: 'make' } | { readonly kind: 'change' | 'credit'; readonly workspace: Workspace };

export const WorkspacesView = () => {
  const rights = useRights();
  const loaded = useManaged('GET /workspaces', { query: { limit: '200' } });
  const [task, setTask] = useState<Task>();
  const close = () => setTask(undefined);
  const done = () => {
    close();
    loaded.reload();
  };
  return (
    <>
      {rights.holdsInAll('owner') && (
        <div class="filters">
          <Button text="Make a workspace" kind="main" onClick={() => setTask({ kind: 'make' })} />
        </div>
      )}
      <PagedTable
        caption="Workspaces"
        loaded={loaded}
        columns={columns(setTask, (id) => rights.holds('owner', id))}
        rowsOf={allRows}
        keyOf={({ id }) => id}
        empty={() => 'There is no workspace. Make one: keys and credit belong to a workspace.'}
        moreTitle="More workspaces"
      />
      {task?.kind === 'make' && <WorkspaceForm close={close} saved={done} />}
      {task?.kind === 'change' && <WorkspaceForm changed={task.workspace} close={close} saved={done} />}
      {task?.kind === 'credit' && <CreditDialog workspace={task.workspace} close={close} changed={loaded.reload} />}
    </>
  );
};

const columns = (
  setTask: (task: Task) => void,
  isOwned: (id: string) => boolean,
): readonly TableColumn<Workspace>[] => [
  {
    title: 'Workspace',
    value: ({ id }) => id,
    show: ({ id }) => <Link view="calls" parameters={{ workspace: id }} text={id} />,
  },
  amountColumn('Available', ({ available_usd }) => available_usd),
  {
    title: 'Spent',
    isNumber: true,
    value: ({ spent_usd }) => sizeOf(spent_usd),
    amounts: ({ spent_usd }) => [spent_usd],
    show: ({ spent_usd, last_credit_alert: ofCredit, last_limit_alert: ofLimit }, usd) => (
      <span class="lines">
        {usd(spent_usd)}
        <LastAlert of={`${ofCredit?.percent} % of the credit`} alert={ofCredit} />
        <LastAlert of={`${ofLimit?.percent} % of the limit`} alert={ofLimit} />
      </span>
    ),
  },
  amountColumn('Reserved', ({ held_usd }) => held_usd),
  amountColumn('Spend limit', ({ spend_limit_usd }) => spend_limit_usd, { isExact: true }),
  ...listedCounts(workspaceSettings).map(({ name, listed }) => countColumn<Workspace>(listed, (one) => one[name])),
  { title: 'Models', show: ({ models }) => (models === 'all' ? 'all' : models.join(', ')) },
  { title: 'Policy', show: ({ data_policy }) => policyText(data_policy) || none },
  {
    title: 'Actions',
    show: (workspace) => (
      <span class="actions">
        {isOwned(workspace.id) && (
          <Button
            text="Change"
            label={`Change workspace ${workspace.id}`}
            onClick={() => setTask({ kind: 'change', workspace })}
          />
        )}
        <Button
          text="Credit"
          label={`Credit of workspace ${workspace.id}`}
          onClick={() => setTask({ kind: 'credit', workspace })}
        />
      </span>
    ),
  },
];

const policyText = ({ zdr, data_collection, data_residency }: Workspace['data_policy']): string =>
  [
    zdr && 'zero retention',
    data_collection && `collection: ${data_collection}`,
    data_residency && `in ${data_residency.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');
