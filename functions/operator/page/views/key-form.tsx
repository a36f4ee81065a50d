// The form that makes a key, or changes one. An empty field means no such limit, or the highest that the workspace allows.
import { useState } from 'preact/hooks';
import type { WrittenBody } from '../../../../shared/configuration/management/index.ts';
import { keySettings, type Setting, type SettingRows } from '../../../../shared/configuration/settings/index.ts';
import type { Choices, Key, NewKey } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { useChoices, useRights, useWorkspaceNames } from '../connection/session-rights.ts';
import { Choice, TextField } from '../parts/field.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { changedSettings, SettingFields } from '../parts/setting-fields.tsx';
import { count } from '../parts/shown-values.ts';
import { useRequests } from '../parts/use-requests.ts';
import { keyTitle } from './key-columns.tsx';

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
  const choices = useChoices();
  const [chosen, setChosen] = useState<string>();
  const workspace = changed?.workspace ?? chosen ?? workspaces[0];
  const isEditor = rights.holds('editor', workspace);
  const rows = isEditor ? keySettings : ofMembers;
  const bounds = isEditor ? undefined : choices.member_keys.find((one) => one.workspace === workspace);
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
      title={changed === undefined ? 'Make a key' : `Change key ${keyTitle(changed)}`}
      close={close}
      submit={save}
      requests={requests}
      send={changed === undefined ? 'Make the key' : 'Save'}
    >
      {changed === undefined && (
        <Choice
          title="Workspace"
          name="workspace"
          required
          options={workspaces}
          value={workspace ?? ''}
          choose={setChosen}
        />
      )}
      {bounds && <RemainingKeys {...bounds} isNew={changed === undefined} />}
      <TextField title="Name" name="name" required maxLength={64} initial={changed?.name} autocomplete="off" />
      <SettingFields rows={rows} stored={changed} choices={choices} bounds={boundsOf(bounds?.bounds)} />
    </FormDialog>
  );
};

type MemberKeys = Choices['member_keys'][number];

/** How many keys the person may still make, which a change of one does not use. */
const RemainingKeys = ({ workspace, bounds, left, isNew }: MemberKeys & { readonly isNew: boolean }) => {
  if (bounds === null)
    return <p class="note">Members make no keys in workspace {workspace}: an owner can change it.</p>;
  return (
    <p class="note">
      {isNew &&
        `You may make ${count(left)} more of ${count(bounds.max)} ${bounds.max === 1 ? 'key' : 'keys'} in workspace ${workspace}. `}
      The limits in the fields are the highest that it allows you; an empty field takes them.
    </p>
  );
};

/** By the settings of a key. */
function boundsOf(bounds: MemberKeys['bounds'] | undefined): Readonly<Record<string, string>> {
  if (!bounds) return {};
  const { max: _ofKeys, expires_in: validity, ...limits } = bounds;
  const written = Object.entries({ ...limits, expires_at: validity && `${validity} from now` });
  return Object.fromEntries(written.flatMap(([name, limit]) => (limit === null ? [] : [[name, String(limit)]])));
}
