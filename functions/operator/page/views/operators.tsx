// Lists the operator keys, which owners of all workspaces make and revoke in this view. The text of a key is shown
// once, after it was made.
import { useState } from 'preact/hooks';
import type { ViewAddress } from '../connection/address.ts';
import type { ManagedOperator, NewOperator } from '../connection/documents.ts';
import { manage, useManagementRequest } from '../connection/management.ts';
import { useWorkspaceNames } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Choice, ListField, TextField } from '../parts/field.tsx';
import { Search, searchOf } from '../parts/filters.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { none } from '../parts/shown-values.ts';
import { type TableColumn, textColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useRequests } from '../parts/use-requests.ts';

type Task = { readonly kind: 'make' } | { readonly kind: 'revoke'; readonly operator: ManagedOperator };

export const OperatorsView = ({ address }: { readonly address: ViewAddress }) => {
  const loaded = useManagementRequest('GET /operators', { query: { search: searchOf(address) } });
  const [task, setTask] = useState<Task>();
  const [newOperator, setNewKey] = useState<NewOperator>();
  const close = () => setTask(undefined);
  const done = (operator?: NewOperator) => {
    if (operator !== undefined) setNewKey(operator);
    close();
    loaded.reload();
  };
  return (
    <>
      <div class="filters">
        <Button text="Make an operator key" kind="main" onClick={() => setTask({ kind: 'make' })} />
        <Search address={address} />
      </div>
      {newOperator && (
        <SecretOnce secret={newOperator.key} hide={() => setNewKey(undefined)}>
          Operator key {newOperator.name}.
        </SecretOnce>
      )}
      <PagedTable
        caption="Operator keys"
        loaded={loaded}
        columns={columns(setTask)}
        rowsOf={allRows}
        keyOf={({ public_id }) => public_id}
        empty={() => 'No operator key has this text. Search for another one, or make a key.'}
        moreTitle="More operator keys"
      />
      {task?.kind === 'make' && <OperatorForm close={close} saved={done} />}
      {task?.kind === 'revoke' && <RevokeOperator operator={task.operator} close={close} done={done} />}
    </>
  );
};

const columns = (setTask: (task: Task) => void): readonly TableColumn<ManagedOperator>[] => [
  {
    title: 'Name',
    value: ({ name }) => name,
    show: ({ name, public_id }) => (
      <span class="lines">
        {name}
        <code class="muted">{public_id}</code>
      </span>
    ),
  },
  textColumn('Role', ({ role }) => role),
  textColumn('Workspaces', ({ workspaces }) => [workspaces].flat().join(', ')),
  {
    title: 'State',
    value: ({ status }) => status,
    show: ({ status }) => <span class={`state ${status === 'active' ? 'serving' : status}`}>{status}</span>,
  },
  { title: 'Made', value: ({ created_at }) => created_at, show: ({ created_at }) => <Time instant={created_at} /> },
  {
    title: 'Actions',
    show: (operator) =>
      operator.status === 'revoked' ? (
        none
      ) : (
        <span class="actions">
          <Button
            text="Revoke"
            kind="danger"
            label={`Revoke operator key ${operator.name}`}
            onClick={() => setTask({ kind: 'revoke', operator })}
          />
        </span>
      ),
  },
];

const roles = {
  viewer: 'viewer: reads',
  editor: 'editor: and changes keys and functions',
  owner: 'owner: and changes credit and limits',
} as const;

interface OperatorFormProperties {
  readonly close: () => void;
  readonly saved: (operator: NewOperator) => void;
}

const OperatorForm = ({ close, saved }: OperatorFormProperties) => {
  const requests = useRequests();
  const names = useWorkspaceNames('owner');
  const save = async (form: HTMLFormElement) => {
    const { text, list } = formValues(form);
    const workspaces = list('workspaces');
    const body = {
      name: text('name'),
      role: text('role') as keyof typeof roles,
      workspaces: workspaces.length === 0 ? ('all' as const) : workspaces,
    };
    const answer = await requests.run(() => manage('POST /operators', { body }));
    if (answer !== undefined) saved(answer.data);
  };
  return (
    <FormDialog title="Make an operator key" close={close} submit={save} requests={requests} send="Make the key">
      <TextField title="Name" name="name" required maxLength={64} autocomplete="off" aria-describedby="name-help" />
      <p id="name-help" class="muted">
        Each change that is made with the key is logged under this name.
      </p>
      <Choice title="Role" name="role" initial="viewer" options={Object.entries(roles)} />
      <ListField
        title="Workspaces"
        name="workspaces"
        placeholder="all"
        aria-describedby="workspaces-help"
        options={names}
      />
      <p id="workspaces-help" class="muted">
        Ids with commas between them. An owner of all workspaces may do everything, and make operators.
      </p>
    </FormDialog>
  );
};

interface RevokeOperatorProperties {
  readonly operator: ManagedOperator;
  readonly close: () => void;
  readonly done: () => void;
}

const RevokeOperator = ({ operator, close, done }: RevokeOperatorProperties) => (
  <ConfirmDialog
    title={`Revoke operator key ${operator.name}?`}
    act="Revoke"
    send={() => manage('POST /operators/{public_id}/revoke', { names: operator })}
    close={close}
    done={done}
  >
    <p>
      It is {operator.role} of {[operator.workspaces].flat().join(', ')}. Requests with it are refused from now on, in
      this console too.
    </p>
  </ConfirmDialog>
);
