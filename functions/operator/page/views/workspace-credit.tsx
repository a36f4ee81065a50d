// The credit of a workspace: additions and removals, and another addition, which counts once however often it is sent.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../shared/configuration/management/index.ts';
import type { Workspace } from '../connection/documents.ts';
import { randomText } from '../connection/identity.ts';
import { manage, useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AmountField } from '../parts/field.tsx';
import { Form, formValues } from '../parts/form.tsx';
import { usdWithDigits } from '../parts/money.ts';
import { Failure, Shown } from '../parts/states.tsx';
import { amountColumn, Table, textColumn } from '../parts/table.tsx';
import { timeOrNone } from '../parts/time.tsx';
import { useRequests } from '../parts/use-requests.ts';

type Addition = AnswerOf<'GET /workspaces/{id}/credits'>['data'][number];

interface CreditDialogProperties {
  readonly workspace: Workspace;
  readonly close: () => void;
  readonly changed: () => void;
}

export const CreditDialog = ({ workspace, close, changed }: CreditDialogProperties) => {
  const { id } = workspace;
  const history = useManaged('GET /workspaces/{id}/credits', { names: { id }, query: { limit: '200' } });
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
    // A removal is sent when it was confirmed.
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
