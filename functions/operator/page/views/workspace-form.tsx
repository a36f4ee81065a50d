// The form that makes a workspace, or changes one. Unchanged fields are not sent, so that changes of others are kept.
import type { Workspace } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { ContentLogFields } from '../parts/content-log-fields.tsx';
import {
  AmountField,
  CheckField,
  CountField,
  ModelsField,
  ResetChoice,
  SpendLimitField,
  TextField,
} from '../parts/field.tsx';
import { FormDialog } from '../parts/form.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { newWorkspace, readWorkspaceForm, workspaceChanges } from './workspace-fields.ts';

interface WorkspaceFormProperties {
  /** Undefined when the form makes a workspace. */
  readonly changed?: Workspace;
  readonly close: () => void;
  readonly saved: () => void;
}

const limits = [
  { name: 'tpm', title: 'Tokens per minute', placeholder: 'no limit' },
  { name: 'concurrency', title: 'Concurrent calls', placeholder: 'no limit of its own' },
  { name: 'function_concurrency', title: 'Concurrent calls of functions', placeholder: 'no limit' },
] as const;

/** Limits of the keys that members make. */
const memberLimits = [
  { Control: CountField, member: 'max', title: 'Keys that a member may make', placeholder: 'none' },
  { Control: CountField, member: 'rpm', title: 'Requests per minute of each of these keys', placeholder: 'no limit' },
  {
    Control: CountField,
    member: 'concurrency',
    title: 'Concurrent calls of each',
    placeholder: 'the default of the service',
  },
  { Control: AmountField, member: 'spend_limit_usd', title: 'Spend limit in USD of each', placeholder: 'no limit' },
] as const;

export const WorkspaceForm = ({ changed, close, saved }: WorkspaceFormProperties) => {
  const requests = useRequests();
  const save = async (form: HTMLFormElement) => {
    const fields = readWorkspaceForm(form);
    const send = () =>
      changed === undefined
        ? manage('POST /workspaces', { body: newWorkspace(fields) })
        : manage('PATCH /workspaces/{id}', { names: { id: changed.id }, body: workspaceChanges(fields, changed) });
    if ((await requests.run(send)) !== undefined) saved();
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
      <SpendLimitField initial={changed?.spend_limit_usd} />
      {limits.map(({ name, ...field }) => (
        <CountField key={name} name={name} initial={changed?.[name]} {...field} />
      ))}
      <ModelsField initial={changed?.models} placeholder="all; or ids with commas between them" />
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
      <TextField
        title="Guardrails"
        name="guardrails"
        initial={changed?.guardrails?.join(', ')}
        placeholder="none; or ids with commas between them"
      />
      <CheckField title="Own provider keys" name="byok" defaultChecked={changed?.features.byok === true} />
      <CheckField title="Presets" name="presets" defaultChecked={changed?.features.presets === true} />
      <ContentLogFields initial={changed?.content_log} absent={{ keep: 'not kept', share: 'all' }} />
      {memberLimits.map(({ Control, member, ...field }) => (
        <Control key={member} name={`member_${member}`} initial={members?.[member]} {...field} />
      ))}
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
