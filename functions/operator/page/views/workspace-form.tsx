// The form that makes a workspace, or changes one. What stays as it was is not sent, so that changes of others hold.
import type { Single, Workspace } from '../connection/documents.ts';
import { Dialog } from '../parts/dialog.tsx';
import { AmountField, CountField, Field, ResetChoice } from '../parts/field.tsx';
import { FormEnd } from '../parts/form-end.tsx';
import { useChange } from '../parts/use-change.ts';
import { readWorkspaceForm, workspaceChanges } from './workspace-fields.ts';

interface WorkspaceFormProperties {
  /** Undefined: the form makes a workspace. */
  readonly changed?: Workspace;
  readonly close: () => void;
  readonly saved: () => void;
}

export const WorkspaceForm = ({ changed, close, saved }: WorkspaceFormProperties) => {
  const { isChanging, failure, run } = useChange();
  const save = async (form: HTMLFormElement) => {
    const fields = readWorkspaceForm(form);
    const answer =
      changed === undefined
        ? await run<Single<Workspace>>('workspaces', { method: 'POST', body: workspaceChanges(fields, undefined) })
        : await run<Single<Workspace>>(`workspaces/${encodeURIComponent(changed.id)}`, {
            method: 'PATCH',
            body: workspaceChanges(fields, changed),
          });
    if (answer !== undefined) saved();
  };
  const policy = changed?.data_policy;
  const members = changed?.member_keys;
  return (
    <Dialog title={changed === undefined ? 'Make a workspace' : `Change workspace ${changed.id}`} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
        {changed === undefined && (
          <>
            <Field title="Id">
              <input name="id" required pattern="[A-Za-z0-9_\-]{1,64}" title="Letters, digits, _ and -" />
            </Field>
            <AmountField title="Credit in USD" name="credit_usd" initial={null} placeholder="0" />
          </>
        )}
        <AmountField
          title="Spend limit in USD"
          name="spend_limit_usd"
          initial={changed?.spend_limit_usd}
          placeholder="no limit"
        />
        <CountField
          title="Calls at once"
          name="concurrency"
          initial={changed?.concurrency}
          placeholder="no limit of its own"
        />
        <CountField
          title="Calls of functions at once"
          name="function_concurrency"
          initial={changed?.function_concurrency}
          placeholder="no limit"
        />
        <Field title="Models">
          <input
            name="models"
            defaultValue={changed === undefined || changed.models === 'all' ? '' : changed.models.join(', ')}
            placeholder="all; or ids with commas between them"
            spellcheck={false}
          />
        </Field>
        <label class="check">
          <input type="checkbox" name="zdr" defaultChecked={policy?.zdr === true} />
          Only providers that keep nothing (zero data retention)
        </label>
        <label class="check">
          <input type="checkbox" name="deny" defaultChecked={policy?.data_collection === 'deny'} />
          Only providers that do not train on what they get
        </label>
        <Field title="Only in these regions">
          <input
            name="data_residency"
            defaultValue={policy?.data_residency?.join(', ') ?? ''}
            placeholder="any; or such as eu, us"
            spellcheck={false}
          />
        </Field>
        <label class="check">
          <input type="checkbox" name="byok" defaultChecked={changed?.features.byok === true} />
          Own provider keys
        </label>
        <label class="check">
          <input type="checkbox" name="presets" defaultChecked={changed?.features.presets === true} />
          Presets
        </label>
        <CountField title="Keys that a member may make" name="member_max" initial={members?.max} placeholder="none" />
        <CountField
          title="Requests per minute of each of these keys"
          name="member_rpm"
          initial={members?.rpm}
          placeholder="no limit"
        />
        <CountField
          title="Calls at once of each"
          name="member_concurrency"
          initial={members?.concurrency}
          placeholder="the default of the service"
        />
        <AmountField
          title="Spend limit in USD of each"
          name="member_spend_limit_usd"
          initial={members?.spend_limit_usd}
          placeholder="no limit"
        />
        <ResetChoice name="member_spend_limit_reset" initial={members?.spend_limit_reset ?? null} />
        <Field title="Each ends after">
          <input
            name="member_expires_in"
            pattern="[1-9]\d{0,4}[hdw]"
            title="A length of time such as 12h, 30d or 8w"
            defaultValue={members?.expires_in ?? ''}
            placeholder="never; or such as 30d"
          />
        </Field>
        <FormEnd
          failure={failure}
          isChanging={isChanging}
          send={changed === undefined ? 'Make the workspace' : 'Save'}
          close={close}
        />
      </form>
    </Dialog>
  );
};
