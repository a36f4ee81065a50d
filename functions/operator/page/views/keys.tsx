// API keys: made, changed and revoked. The text of a key is shown once, after it was made.
import { useMemo, useState } from 'preact/hooks';
import type { ViewAddress } from '../connection/address.ts';
import type { Key, NewKey } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { CheckField } from '../parts/field.tsx';
import { changeAddress, Search, searchOf } from '../parts/filters.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { RevokeKey, RotateKey } from './end-key.tsx';
import { type KeyTask, keyColumns, keyTitle } from './key-columns.tsx';
import { KeyForm } from './key-form.tsx';

export const KeysView = ({ address }: { readonly address: ViewAddress }) => {
  const rights = useRights();
  const mayMake = rights.holds('editor') || (rights.isPerson && rights.holds('member'));
  const mayChange = ({ workspace, owner }: Key) =>
    rights.holds('editor', workspace) || (owner !== null && rights.isPerson);
  const showsRevoked = address.parameters.get('revoked') === 'shown';
  const loaded = useManaged('GET /keys', {
    query: { search: searchOf(address), usable: showsRevoked ? undefined : 'true' },
  });
  // The records of calls have what keys spend that no limit counts.
  const lately = useManaged('GET /overview', { query: { since: '24h' } }).answer?.data;
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
