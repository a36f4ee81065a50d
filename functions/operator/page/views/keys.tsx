// API keys: made, changed and revoked. The text of a key is shown once, after it was made.
import { useState } from 'preact/hooks';
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
import { type KeyTask, keyColumns } from './key-columns.tsx';
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
  const [task, setTask] = useState<KeyTask>();
  const [made, setMade] = useState<NewKey>();
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
      {made && (
        <SecretOnce secret={made.key} hide={() => setMade(undefined)}>
          Key {made.name} of {made.workspace}.
        </SecretOnce>
      )}
      <PagedTable
        caption="API keys"
        loaded={loaded}
        columns={keyColumns(setTask, mayChange)}
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
            setMade(key as NewKey);
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
            setMade(key);
            done();
          }}
        />
      )}
      {task?.kind === 'revoke' && <RevokeKey apiKey={task.key} close={() => setTask(undefined)} done={done} />}
    </>
  );
};
