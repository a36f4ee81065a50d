// Lists the API keys, which operators make, change and revoke in this view. The text of a key is shown once, after it
// was made.

import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { WrittenBody } from '../../../../shared/configuration/management/index.ts';
import {
  keySettings,
  listedCounts,
  type Setting,
  type SettingRows,
} from '../../../../shared/configuration/settings/index.ts';
import type { ViewAddress } from '../connection/address.ts';
import type { Choices, Key, NewKey } from '../connection/documents.ts';
import { manage, useManagementRequest } from '../connection/management.ts';
import { useChoices, useRights, useWorkspaceNames } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CheckField, Choice, TextField } from '../parts/field.tsx';
import { changeAddress, Search, searchOf } from '../parts/filters.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { LastAlert } from '../parts/last-alert.tsx';
import { LatelyUsed } from '../parts/lately-used.tsx';
import { Link } from '../parts/link.tsx';
import { exactUsd } from '../parts/money.ts';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { changedSettings, SettingFields } from '../parts/setting-fields.tsx';
import { count, none, tagPairs, time } from '../parts/shown-values.ts';
import { sizeOf, type TableColumn, textColumn } from '../parts/table.tsx';
import { timeOrNone } from '../parts/time.tsx';
import { useRequests } from '../parts/use-requests.ts';

export const KeysView = ({ address }: { readonly address: ViewAddress }) => {
  const rights = useRights();
  const mayMake = rights.holds('editor') || (rights.isPerson && rights.holds('member'));
  const mayChange = ({ workspace, owner }: Key) =>
    rights.holds('editor', workspace) || (owner !== null && rights.isPerson);
  const showsRevoked = address.parameters.get('revoked') === 'shown';
  const loaded = useManagementRequest('GET /keys', {
    query: { search: searchOf(address), usable: showsRevoked ? undefined : 'true' },
  });
  // Only the records of calls contain the spend of keys without a limit.
  const lately = useManagementRequest('GET /overview', { query: { since: '24h' } }).answer?.data;
  const costOf = useMemo(() => new Map(lately?.by_key.map(({ key, cost_usd }) => [key, cost_usd])), [lately]);
  const latelyOf = ({ public_id }: Key) => (lately === undefined ? undefined : (costOf.get(public_id) ?? '0'));
  const [task, setTask] = useState<KeyTask>();
  const [newKey, setNewKey] = useState<NewKey>();
  const done = () => {
    setTask(undefined);
    loaded.reload();
  };
  return (
    <>
      <div class="filters">
        {mayMake && <Button text="Make a key" kind="main" onClick={() => setTask({ kind: 'make' })} />}
        <CheckField
          title="Show revoked and expired keys"
          checked={showsRevoked}
          change={(isChecked) => changeAddress(address, 'revoked', isChecked ? 'shown' : '')}
        />
        <Search address={address} />
      </div>
      {newKey && (
        <SecretOnce secret={newKey.key} hide={() => setNewKey(undefined)}>
          Key {keyTitle(newKey)}.
        </SecretOnce>
      )}
      <PagedTable
        caption="API keys"
        loaded={loaded}
        columns={keyColumns(setTask, mayChange, latelyOf)}
        rowsOf={allRows}
        keyOf={({ public_id }) => public_id}
        empty={() =>
          searchOf(address) === undefined
            ? 'There is no key that can be used. Make one, and give it to a client.'
            : 'No key has this text. Search for another one.'
        }
        moreTitle="More keys"
      />
      {task?.kind === 'make' && (
        <KeyForm
          close={() => setTask(undefined)}
          saved={(key) => {
            setNewKey(key as NewKey);
            done();
          }}
        />
      )}
      {task?.kind === 'change' && <KeyForm changed={task.key} close={() => setTask(undefined)} saved={done} />}
      {task?.kind === 'rotate' && (
        <RotateKey
          apiKey={task.key}
          close={() => setTask(undefined)}
          done={(key) => {
            setNewKey(key);
            done();
          }}
        />
      )}
      {task?.kind === 'revoke' && <RevokeKey apiKey={task.key} close={() => setTask(undefined)} done={done} />}
    </>
  );
};

// Ends a key at once, or after another key has replaced it.

interface EndKeyProperties {
  readonly apiKey: Key;
  readonly close: () => void;
}

const graces = { '0s': 'at once', '1h': 'after an hour', '24h': 'after a day', '7d': 'after a week' };

const RotateKey = ({ apiKey, close, done }: EndKeyProperties & { readonly done: (newKey: NewKey) => void }) => {
  const requests = useRequests();
  const rotate = async (form: HTMLFormElement) => {
    const body = { grace: formValues(form).text('grace') };
    const answer = await requests.run(() => manage('POST /keys/{public_id}/rotate', { names: apiKey, body }));
    if (answer !== undefined) done(answer.data);
  };
  return (
    <FormDialog
      title={`Rotate key ${keyTitle(apiKey)}?`}
      close={close}
      submit={rotate}
      requests={requests}
      send="Rotate"
      leave="Keep it"
    >
      <p>A new key of this name and with these limits is made and shown once. Both work until the former one ends.</p>
      <Choice title="The former key ends" name="grace" initial="24h" options={Object.entries(graces)} />
    </FormDialog>
  );
};

const RevokeKey = ({ apiKey, close, done }: EndKeyProperties & { readonly done: () => void }) => (
  <ConfirmDialog
    title={`Revoke key ${keyTitle(apiKey)}?`}
    act="Revoke"
    send={() => manage('PATCH /keys/{public_id}', { names: apiKey, body: { status: 'revoked' } })}
    close={close}
    done={done}
  >
    <p>Clients with key {keyTitle(apiKey)} are refused from their next request on.</p>
    {apiKey.owner !== null && <p>It belongs to {apiKey.owner}.</p>}
    <LatelyUsed filter={{ key: apiKey.public_id }} />
  </ConfirmDialog>
);

// Shows the form that creates or changes a key. An empty limit means no limit, or the highest that the workspace
// allows.

interface KeyFormProperties {
  /** The key to change; undefined if the form makes a key. */
  readonly changed?: Key;
  readonly close: () => void;
  readonly saved: (key: Key | NewKey) => void;
}

const memberSettings: SettingRows = Object.fromEntries(
  Object.entries<Setting>(keySettings).filter(([, { role }]) => role === undefined),
);

const KeyForm = ({ changed, close, saved }: KeyFormProperties) => {
  const requests = useRequests();
  // If a person is only a member, new keys belong to that person.
  const rights = useRights();
  const workspaces = useWorkspaceNames(rights.isPerson ? 'member' : 'editor');
  const choices = useChoices();
  const [chosen, setChosen] = useState<string>();
  const workspace = changed?.workspace ?? chosen ?? workspaces[0];
  const isEditor = rights.holds('editor', workspace);
  const rows = isEditor ? keySettings : memberSettings;
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

/** Shows how many keys the person may still make. A change of a key does not reduce this number. */
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

/** Returns the bounds by the settings of a key. */
function boundsOf(bounds: MemberKeys['bounds'] | undefined): Readonly<Record<string, string>> {
  if (!bounds) return {};
  const { max: _ofKeys, expires_in: validity, ...limits } = bounds;
  const written = Object.entries({ ...limits, expires_at: validity && `${validity} from now` });
  return Object.fromEntries(written.flatMap(([name, limit]) => (limit === null ? [] : [[name, String(limit)]])));
}

// Lists the columns of a table of keys: the current state of each key, and its actions.

type KeyTask = { readonly kind: 'make' } | { readonly kind: 'change' | 'revoke' | 'rotate'; readonly key: Key };

const keyColumns = (
  setTask: (task: KeyTask) => void,
  mayChange: (key: Key) => boolean,
  /** Returns the cost of a key's calls in the last 24 hours; undefined until it is read. */
  lately: (key: Key) => string | undefined,
): readonly TableColumn<Key>[] => [
  {
    title: 'Name',
    value: ({ name }) => name,
    show: ({ name, public_id }) => (
      <span class="lines">
        <Link view="calls" parameters={{ key: public_id }} text={name} />
        <code class="muted">{public_id}</code>
      </span>
    ),
  },
  {
    title: 'Workspace',
    value: ({ workspace }) => workspace,
    show: ({ workspace, owner }) => (
      <span class="lines">
        {workspace}
        {owner !== null && <span class="muted">{owner}</span>}
      </span>
    ),
  },
  { title: 'State', value: ({ state }) => state, show: (key) => <State apiKey={key} /> },
  {
    title: 'Spent',
    isNumber: true,
    value: ({ spent_usd }) => sizeOf(spent_usd),
    amounts: (key) => [key.spent_usd, lately(key) ?? null],
    show: (key, usd) => {
      const { spent_usd, last_alert } = key;
      const dayCost = lately(key);
      return (
        <span class="lines">
          {usd(spent_usd)}
          {dayCost !== undefined && <span class="muted">24 h: {usd(dayCost)}</span>}
          <LastAlert subject={`${last_alert?.percent} %`} alert={last_alert} />
        </span>
      );
    },
  },
  { title: 'Limits', show: (key) => limitsOf(key) },
  { title: 'Expires', value: ({ expires_at }) => expires_at, show: ({ expires_at }) => timeOrNone(expires_at) },
  textColumn('Models', ({ models }) => (models === 'all' ? 'all' : models.join(', '))),
  textColumn('Tags', ({ tags }) => tagPairs(tags) || null),
  {
    title: 'Actions',
    show: (key) =>
      key.state === 'revoked' || !mayChange(key) ? (
        none
      ) : (
        <span class="actions">
          <Button
            text="Change"
            label={`Change key ${keyTitle(key)}`}
            onClick={() => setTask({ kind: 'change', key })}
          />
          {key.state === 'active' && (
            <Button
              text="Rotate"
              label={`Rotate key ${keyTitle(key)}`}
              onClick={() => setTask({ kind: 'rotate', key })}
            />
          )}
          <Button
            text="Revoke"
            kind="danger"
            label={`Revoke key ${keyTitle(key)}`}
            onClick={() => setTask({ kind: 'revoke', key })}
          />
        </span>
      ),
  },
];

/** Names a key with its workspace, because names are unique within a workspace only. */
const keyTitle = ({ name, workspace }: Pick<Key, 'name' | 'workspace'>): string => `${name} of ${workspace}`;

function limitsOf({ spend_limit_usd, spend_limit_reset, ...key }: Key): ComponentChildren {
  const limits = [
    spend_limit_usd !== null && `${exactUsd(spend_limit_usd)} ${spend_limit_reset ?? ''}`.trim(),
    ...listedCounts(keySettings).map(({ name, listed }) => key[name] !== null && `${count(key[name])} ${listed}`),
  ].filter((limit) => limit !== false);
  if (limits.length === 0) return none;
  return (
    <span class="lines">
      {limits.map((limit) => (
        <span key={limit}>{limit}</span>
      ))}
    </span>
  );
}

/** Shows the state of a key as a word, with a mark in addition to its colour, and details on hover. */
const State = ({ apiKey: { state, expires_at, replaced_by } }: { readonly apiKey: Key }) => {
  const why = state === 'ending' ? `${replaced_by} takes its place; ends ${time(expires_at)}` : undefined;
  return (
    <span class={`state ${state === 'active' ? 'serving' : state}`} title={why}>
      {state}
    </span>
  );
};
