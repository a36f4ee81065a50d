// API keys: made, changed and revoked. The text of a key is shown once, after it was made.
import { useState } from 'preact/hooks';
import { type Address, goTo } from '../connection/address.ts';
import type { Key, List, NewKey, Single } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Link } from '../parts/link.tsx';
import { PagedTable } from '../parts/paged-table.tsx';
import { count, none, tagPairs, time, usd } from '../parts/shown-values.ts';
import { Failure, Shown } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { useChange } from '../parts/use-change.ts';
import { KeyForm } from './key-form.tsx';

type Task = { readonly kind: 'make' } | { readonly kind: 'change' | 'revoke'; readonly key: Key };

const path = 'keys?limit=200';

export const KeysView = ({ address }: { readonly address: Address }) => {
  const showsRevoked = address.parameters.get('revoked') === 'shown';
  const loaded = useManaged<List<Key>>(path);
  const [task, setTask] = useState<Task>();
  const [made, setMade] = useState<NewKey>();
  const done = () => {
    setTask(undefined);
    loaded.reload();
  };
  return (
    <>
      <div class="filters">
        <button type="button" class="main" onClick={() => setTask({ kind: 'make' })}>
          Make a key
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={showsRevoked}
            onChange={({ currentTarget }) => goTo('keys', { revoked: currentTarget.checked ? 'shown' : '' })}
          />
          Show revoked keys
        </label>
      </div>
      {made && <MadeKey made={made} hide={() => setMade(undefined)} />}
      <Shown loaded={loaded}>
        {(answer) => (
          <PagedTable
            caption="API keys"
            path={path}
            first={answer}
            columns={columns(setTask)}
            rowsOf={(keys) => keys.filter(({ status }) => showsRevoked || status === 'active')}
            keyOf={({ public_id }) => public_id}
            empty={(keys) =>
              keys.length === 0
                ? 'There is no key yet. Make one, and give it to a client.'
                : 'Every key is revoked. Make a key, or show the revoked ones.'
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
      {task?.kind === 'revoke' && <Revoke apiKey={task.key} close={() => setTask(undefined)} done={done} />}
    </>
  );
};

const columns = (setTask: (task: Task) => void): readonly Column<Key>[] => [
  {
    title: 'Name',
    show: ({ name, public_id }) => (
      <Link view="calls" parameters={{ key: public_id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Workspace', show: ({ workspace }) => workspace },
  { title: 'Public id', show: ({ public_id }) => <code>{public_id}</code> },
  { title: 'Status', show: ({ status }) => status },
  { title: 'Requests per minute', isNumber: true, show: ({ rpm }) => count(rpm) },
  {
    title: 'Spent of limit',
    isNumber: true,
    show: ({ spend_limit_usd, spent_usd, spend_limit_reset }) =>
      spend_limit_usd === null
        ? none
        : `${usd(spent_usd)} of ${usd(spend_limit_usd)}${spend_limit_reset === null ? '' : ` ${spend_limit_reset}`}`,
  },
  { title: 'Expires', show: ({ expires_at }) => time(expires_at) },
  { title: 'Models', show: ({ models }) => (models === null || models === 'all' ? 'all' : models.join(', ')) },
  { title: 'Tags', show: ({ tags }) => tagPairs(tags) || none },
  {
    title: 'Actions',
    show: (key) =>
      key.status === 'revoked' ? (
        none
      ) : (
        <span class="actions">
          <button type="button" aria-label={`Change key ${key.name}`} onClick={() => setTask({ kind: 'change', key })}>
            Change
          </button>
          <button type="button" aria-label={`Revoke key ${key.name}`} onClick={() => setTask({ kind: 'revoke', key })}>
            Revoke
          </button>
        </span>
      ),
  },
];

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

const Revoke = ({
  apiKey,
  close,
  done,
}: {
  readonly apiKey: Key;
  readonly close: () => void;
  readonly done: () => void;
}) => {
  const { isChanging, failure, run } = useChange();
  const revoke = async () => {
    const path = `keys/${encodeURIComponent(apiKey.public_id)}`;
    if ((await run<Single<Key>>(path, { method: 'PATCH', body: { status: 'revoked' } })) !== undefined) done();
  };
  return (
    <Dialog title={`Revoke key ${apiKey.name}?`} onClose={close}>
      <p>
        Clients with key {apiKey.name} of {apiKey.workspace} are refused from their next request on.
      </p>
      {failure && <Failure failure={failure} />}
      <p class="actions">
        <button type="button" class="main" disabled={isChanging} onClick={() => void revoke()}>
          Revoke
        </button>
        <button type="button" onClick={close}>
          Keep it
        </button>
      </p>
    </Dialog>
  );
};
