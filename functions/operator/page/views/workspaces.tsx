// Lists the workspaces: their credit and its history, limits, policy and models. Owners change them.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../shared/configuration/management/index.ts';
import { listedCounts, workspaceSettings } from '../../../../shared/configuration/settings/index.ts';
import type { Workspace } from '../connection/documents.ts';
import { randomText } from '../connection/identity.ts';
import { manage, useManagementRequest } from '../connection/management.ts';
import { useChoices, useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AmountField, TextField } from '../parts/field.tsx';
import { Form, FormDialog, formValues } from '../parts/form.tsx';
import { LastAlert } from '../parts/last-alert.tsx';
import { Link } from '../parts/link.tsx';
import { usdWithDigits } from '../parts/money.ts';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { changedSettings, SettingFields } from '../parts/setting-fields.tsx';
import { none } from '../parts/shown-values.ts';
import { Failure, Shown } from '../parts/states.tsx';
import { amountColumn, countColumn, sizeOf, Table, type TableColumn, textColumn } from '../parts/table.tsx';
import { timeOrNone } from '../parts/time.tsx';
import { useRequests } from '../parts/use-requests.ts';

type Task = { readonly kind: 'make' } | { readonly kind: 'change' | 'credit'; readonly workspace: Workspace };

export const WorkspacesView = () => {
  const rights = useRights();
  const loaded = useManagementRequest('GET /workspaces', { query: { limit: '200' } });
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
    show: ({ spent_usd, last_credit_alert: creditAlert, last_limit_alert: limitAlert }, usd) => (
      <span class="lines">
        {usd(spent_usd)}
        <LastAlert subject={`${creditAlert?.percent} % of the credit`} alert={creditAlert} />
        <LastAlert subject={`${limitAlert?.percent} % of the limit`} alert={limitAlert} />
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

// Shows the form that creates or changes a workspace. Unchanged fields are not sent, so that changes of other operators
// are preserved.

interface WorkspaceFormProperties {
  /** The workspace to change; undefined if the form makes a workspace. */
  readonly changed?: Workspace;
  readonly close: () => void;
  readonly saved: () => void;
}

const WorkspaceForm = ({ changed, close, saved }: WorkspaceFormProperties) => {
  const requests = useRequests();
  const choices = useChoices();
  const save = async (form: HTMLFormElement) => {
    const { text } = formValues(form);
    const body = changedSettings(workspaceSettings, form, changed);
    // The bounds of member keys apply only if members may make keys.
    if (text('member_keys.max') === '') body.member_keys = changed?.member_keys ? null : undefined;
    const send = () =>
      changed === undefined
        ? manage('POST /workspaces', { body: { id: text('id'), credit_usd: text('credit_usd') || '0', ...body } })
        : manage('PATCH /workspaces/{id}', { names: { id: changed.id }, body });
    if ((await requests.run(send)) !== undefined) saved();
  };
  return (
    <FormDialog
      title={changed === undefined ? 'Make a workspace' : `Change workspace ${changed.id}`}
      close={close}
      submit={save}
      requests={requests}
      send={changed === undefined ? 'Make the workspace' : 'Save'}
    >
      {changed === undefined && (
        <>
          <TextField title="Id" name="id" required pattern="[A-Za-z0-9_\-]{1,64}" hint="Letters, digits, _ and -" />
          <AmountField title="Credit in USD" name="credit_usd" placeholder="0" />
        </>
      )}
      <SettingFields rows={workspaceSettings} stored={changed} choices={choices} />
    </FormDialog>
  );
};

// Shows the credit of a workspace: additions and removals, and a form for another addition. The addition counts once,
// however often it is sent.

type Addition = AnswerOf<'GET /workspaces/{id}/credits'>['data'][number];

interface CreditDialogProperties {
  readonly workspace: Workspace;
  readonly close: () => void;
  readonly changed: () => void;
}

const CreditDialog = ({ workspace, close, changed }: CreditDialogProperties) => {
  const { id } = workspace;
  const history = useManagementRequest('GET /workspaces/{id}/credits', { names: { id }, query: { limit: '200' } });
  const mayAdd = useRights().holds('owner', id);
  return (
    <Dialog title={`Credit of ${id}`} onClose={close}>
      {mayAdd && (
        <AddCredit
          workspace={workspace}
          added={() => {
            history.reload();
            changed();
          }}
        />
      )}
      <Shown loaded={history}>
        {({ data }) => (
          <Table
            caption="What was granted, added and removed, the newest first"
            rows={data}
            keyOf={({ id: key }) => key ?? ''}
            empty="Nothing was granted."
            columns={[
              { title: 'Time', value: ({ time }) => time, show: ({ time }) => timeOrNone(time) },
              textColumn<Addition>('Id', (one) => one.id ?? 'First grant'),
              amountColumn<Addition>('Amount', ({ amount_usd }) => amount_usd, { isExact: true }),
            ]}
          />
        )}
      </Shown>
      <p class="actions">
        <Button text="Close" onClick={close} />
      </p>
    </Dialog>
  );
};

const AddCredit = ({ workspace, added }: { readonly workspace: Workspace; readonly added: () => void }) => {
  const { isRunning, failure, run } = useRequests();
  const [id, setId] = useState(newId);
  const [removal, setRemoval] = useState<string>();
  const add = async (form: HTMLFormElement) => {
    const body = { amount_usd: formValues(form).text('amount_usd'), id };
    // A removal is sent only after it was confirmed.
    if (body.amount_usd.startsWith('-') && removal !== body.amount_usd) return setRemoval(body.amount_usd);
    setRemoval(undefined);
    const send = () => manage('POST /workspaces/{id}/credits', { names: { id: workspace.id }, body });
    if ((await run(send)) === undefined) return;
    form.reset();
    setId(newId());
    added();
  };
  return (
    <Form submit={add}>
      <AmountField
        title="Amount in USD"
        name="amount_usd"
        required
        pattern="-?\d+(\.\d+)?"
        hint="An amount such as 25 or 12.50; below 0 takes away"
        change={() => setRemoval(undefined)}
      />
      <label>
        Id, such as the number of an invoice
        <input
          value={id}
          required
          pattern="[a-z0-9][a-z0-9_\-]*"
          title="Lower-case letters, digits, _ and -"
          onInput={({ currentTarget }) => setId(currentTarget.value)}
        />
      </label>
      <p class="muted">The same id is added once within 30 days: send it again where no answer came.</p>
      <Failure failure={failure} />
      {removal !== undefined && (
        <p class="note" role="alert">
          This takes {usdWithDigits(removal.slice(1))} from all keys of workspace {workspace.id}, which has{' '}
          {usdWithDigits(workspace.available_usd)} now.
        </p>
      )}
      <p class="actions">
        <button type="submit" class={removal === undefined ? 'main' : 'danger'} disabled={isRunning}>
          {removal === undefined ? 'Add' : 'Take it away'}
        </button>
      </p>
    </Form>
  );
};

const idBytes = 6;
const newId = (): string => `console-${randomText(idBytes).toLowerCase()}`;
