// API keys: made, changed and revoked. The text of a key is shown once, after it was made.
import { useState } from 'preact/hooks';
import { type Address, goTo } from '../connection/address.ts';
import type { Key, List, NewKey } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { PagedTable } from '../parts/paged-table.tsx';
import { Shown } from '../parts/states.tsx';
import { RevokeKey, RotateKey } from './end-key.tsx';
import { type KeyTask, keyColumns } from './key-columns.tsx';
import { KeyForm } from './key-form.tsx';

const path = 'keys?limit=200';

export const KeysView = ({ address }: { readonly address: Address }) => {
  const rights = useRights();
  const mayMake = rights.holds('editor') || (rights.isPerson && rights.holds('member'));
  const mayChange = ({ workspace, owner }: Key) =>
    rights.holds('editor', workspace) || (owner !== null && rights.isPerson);
  const showsRevoked = address.parameters.get('revoked') === 'shown';
  const loaded = useManaged<List<Key>>(path);
  const [task, setTask] = useState<KeyTask>();
  const [made, setMade] = useState<NewKey>();
  const done = () => {
    setTask(undefined);
    loaded.reload();
  };
  return (
    <>
      <div class="filters">
        {mayMake && (
          <button type="button" class="main" onClick={() => setTask({ kind: 'make' })}>
            Make a key
          </button>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={showsRevoked}
            onChange={({ currentTarget }) => goTo('keys', { revoked: currentTarget.checked ? 'shown' : '' })}
          />
          Show revoked and expired keys
        </label>
      </div>
      {made && <MadeKey made={made} hide={() => setMade(undefined)} />}
      <Shown loaded={loaded}>
        {(answer) => (
          <PagedTable
            caption="API keys"
            path={path}
            first={answer}
            columns={keyColumns(setTask, mayChange)}
            rowsOf={(keys) => keys.filter(({ state }) => showsRevoked || state === 'active' || state === 'ending')}
            keyOf={({ public_id }) => public_id}
            empty={(keys) =>
              keys.length === 0
                ? 'There is no key yet. Make one, and give it to a client.'
                : 'Every key is revoked or has expired. Make a key, or show those.'
            }
            moreTitle="More keys"
          />
        )}
      </Shown>
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

const MadeKey = ({ made, hide }: { readonly made: NewKey; readonly hide: () => void }) => {
  const [isCopied, setIsCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(made.key).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    );
  return (
    <section class="made" aria-label="The new key">
      <p role="status">
        Key {made.name} of {made.workspace}. Copy it now: it is stored as a hash only and cannot be shown again.
      </p>
      <code>{made.key}</code>
      <p class="actions">
        <button type="button" class="main" onClick={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
        <button type="button" onClick={hide}>
          Hide it
        </button>
      </p>
    </section>
  );
};
