// The credit of a workspace: additions and removals, and another addition, which counts once however often it is sent.
import { useState } from 'preact/hooks';
import type { Workspace } from '../connection/documents.ts';
import { randomText } from '../connection/identity.ts';
import { manage, useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AmountField } from '../parts/field.tsx';
import { Form, formValues } from '../parts/form.tsx';
import { usd } from '../parts/shown-values.ts';
import { Failure, Shown } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { timeOrNone } from '../parts/time.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface CreditDialogProperties {
  readonly workspace: Workspace;
  readonly close: () => void;
  readonly changed: () => void;
}

export const CreditDialog = ({ workspace: { id }, close, changed }: CreditDialogProperties) => {
  const history = useManaged('GET /workspaces/{id}/credits', { names: { id }, query: { limit: '200' } });
  const mayAdd = useRights().holds('owner', id);
  return (
    <Dialog title={`Credit of ${id}`} onClose={close}>
      {mayAdd && (
        <AddCredit
          workspace={id}
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
              { title: 'Time', show: ({ time }) => timeOrNone(time) },
              { title: 'Id', show: (one) => one.id ?? 'First grant' },
              { title: 'Amount', isNumber: true, show: ({ amount_usd }) => usd(amount_usd) },
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

const AddCredit = ({ workspace, added }: { readonly workspace: string; readonly added: () => void }) => {
  const { isRunning, failure, run } = useRequests();
  const [id, setId] = useState(newId);
  const add = async (form: HTMLFormElement) => {
    const body = { amount_usd: formValues(form).text('amount_usd'), id };
    const send = () => manage('POST /workspaces/{id}/credits', { names: { id: workspace }, body });
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
        form="An amount such as 25 or 12.50; below 0 takes away"
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
      <p class="actions">
        <button type="submit" class="main" disabled={isRunning}>
          Add
        </button>
      </p>
    </Form>
  );
};

const idBytes = 6;
const newId = (): string => `console-${randomText(idBytes).toLowerCase()}`;
