// The form that makes a workspace, or changes one. What stays as it was is not sent, so that changes of others hold.
import type { Workspace } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { AmountField, CheckField, CountField, ResetChoice, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { readWorkspaceForm, workspaceChanges } from './workspace-fields.ts';

interface WorkspaceFormProperties {
  /** Undefined: the form makes a workspace. */
  readonly changed?: Workspace;
  readonly close: () => void;
  readonly saved: () => void;
}

export const WorkspaceForm = ({ changed, close, saved }: WorkspaceFormProperties) => {
  const requests = useRequests();
  const save = async (form: HTMLFormElement) => {
    const body = workspaceChanges(readWorkspaceForm(form), changed);
    const [path, method] =
      changed === undefined
        ? (['workspaces', 'POST'] as const)
        : ([`workspaces/${encodeURIComponent(changed.id)}`, 'PATCH'] as const);
    if ((await requests.run(() => manage(path, { method, body }))) !== undefined) saved();
  };
  const policy = changed?.data_policy;
  const members = changed?.member_keys;
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
          <TextField title="Id" name="id" required pattern="[A-Za-z0-9_\-]{1,64}" form="Letters, digits, _ and -" />
          <AmountField title="Credit in USD" name="credit_usd" placeholder="0" />
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
      <TextField
        title="Models"
        name="models"
        initial={changed === undefined || changed.models === 'all' ? '' : changed.models.join(', ')}
        placeholder="all; or ids with commas between them"
      />
      <CheckField
        title="Only providers that keep nothing (zero data retention)"
        name="zdr"
        defaultChecked={policy?.zdr === true}
      />
      <CheckField
        title="Only providers that do not train on what they get"
        name="deny"
        defaultChecked={policy?.data_collection === 'deny'}
      />
      <TextField
        title="Only in these regions"
        name="data_residency"
        initial={policy?.data_residency?.join(', ')}
        placeholder="any; or such as eu, us"
      />
      <CheckField title="Own provider keys" name="byok" defaultChecked={changed?.features.byok === true} />
      <CheckField title="Presets" name="presets" defaultChecked={changed?.features.presets === true} />
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
      <ResetChoice name="member_spend_limit_reset" initial={members?.spend_limit_reset} />
      <TextField
        title="Each ends after"
        name="member_expires_in"
        pattern="[1-9]\d{0,4}[hdw]"
        form="A length of time such as 12h, 30d or 8w"
        initial={members?.expires_in}
        placeholder="never; or such as 30d"
      />
    </FormDialog>
  );
};
