// The form that makes a key, or changes one. An empty field means no such limit.
import type { WrittenBody } from '../../../../shared/configuration/management/index.ts';
import { keySettings, type Setting, type SettingRows } from '../../../../shared/configuration/settings/index.ts';
import type { Key, NewKey } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { useRights, useWorkspaceNames } from '../connection/session-rights.ts';
import { Choice, TextField } from '../parts/field.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { changedSettings, SettingFields } from '../parts/setting-fields.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface KeyFormProperties {
  /** Undefined when the form makes a key. */
  readonly changed?: Key;
  readonly close: () => void;
  readonly saved: (key: Key | NewKey) => void;
}

const ofMembers: SettingRows = Object.fromEntries(
  Object.entries<Setting>(keySettings).filter(([, { role }]) => role === undefined),
);

export const KeyForm = ({ changed, close, saved }: KeyFormProperties) => {
  const requests = useRequests();
  // A person makes keys of their own where they are a member.
  const rights = useRights();
  const workspaces = useWorkspaceNames(rights.isPerson ? 'member' : 'editor');
  const rows = rights.holds('editor', changed?.workspace) ? keySettings : ofMembers;
  const save = async (form: HTMLFormElement) => {
    const { text } = formValues(form);
    const [name, settings] = [text('name'), changedSettings(rows, form, changed)];
    const body = name === changed?.name ? settings : { name, ...settings };
    const send = () =>
      changed === undefined
        ? manage('POST /keys', { body: { workspace: text('workspace'), ...body } as WrittenBody<'POST /keys'> })
        : manage('PATCH /keys/{public_id}', { names: changed, body });
    const answer = await requests.run<{ readonly data: Key | NewKey }>(send);
    if (answer !== undefined) saved(answer.data);
  };
  return (
    <FormDialog
      title={changed === undefined ? 'Make a key' : `Change key ${changed.name}`}
      close={close}
      submit={save}
      requests={requests}
      send={changed === undefined ? 'Make the key' : 'Save'}
    >
      {changed === undefined && <Choice title="Workspace" name="workspace" required options={workspaces} />}
      <TextField title="Name" name="name" required maxLength={64} initial={changed?.name} autocomplete="off" />
      <SettingFields rows={rows} stored={changed} />
    </FormDialog>
  );
};
