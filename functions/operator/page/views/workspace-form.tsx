// The form that makes a workspace, or changes one. Unchanged fields are not sent, so that changes of others are kept.
import { workspaceSettings } from '../../../../shared/configuration/settings/index.ts';
import type { Workspace } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { useChoices } from '../connection/session-rights.ts';
import { AmountField, TextField } from '../parts/field.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { changedSettings, SettingFields } from '../parts/setting-fields.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface WorkspaceFormProperties {
  /** Undefined when the form makes a workspace. */
  readonly changed?: Workspace;
  readonly close: () => void;
  readonly saved: () => void;
}

export const WorkspaceForm = ({ changed, close, saved }: WorkspaceFormProperties) => {
  const requests = useRequests();
  const choices = useChoices();
  const save = async (form: HTMLFormElement) => {
    const { text } = formValues(form);
    const body = changedSettings(workspaceSettings, form, changed);
    // Where members make no keys, nothing limits them.
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
