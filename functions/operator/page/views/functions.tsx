// Stored functions: which revision serves, and what an operator may do with them.
import { useState } from 'preact/hooks';
import { goTo } from '../connection/address.ts';
import type { List, Single, StoredFunction } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { none } from '../parts/shown-values.ts';
import { Failure, Shown } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { type Changing, useChange } from '../parts/use-change.ts';
import { PublishRevision } from './publish-revision.tsx';

const path = 'functions?limit=200';

export const FunctionsView = () => {
  const loaded = useManaged<List<StoredFunction>>(path);
  const changing = useChange();
  const change = async (one: StoredFunction, action: 'enable' | 'disable' | 'activate', body?: object) => {
    const target = `functions/${encodeURIComponent(one.workspace)}/${encodeURIComponent(one.id)}/${action}`;
    const done = await changing.run<Single<StoredFunction>>(target, { method: 'POST', ...(body ? { body } : {}) });
    if (done !== undefined) loaded.reload();
  };
  const [isMaking, setIsMaking] = useState(false);
  const mayMake = useRights().holds('editor');
  return (
    <>
      {mayMake && (
        <div class="filters">
          <button type="button" class="main" onClick={() => setIsMaking(true)}>
            Make a function
          </button>
        </div>
      )}
      {isMaking && (
        <PublishRevision
          close={() => setIsMaking(false)}
          saved={({ workspace, id }, activate = '') => goTo('function', { workspace, id, activate })}
        />
      )}
      {changing.failure && <Failure failure={changing.failure} />}
      <Shown loaded={loaded}>{(answer) => <Functions first={answer} changing={changing} change={change} />}</Shown>
    </>
  );
};

interface FunctionsProperties {
  readonly first: List<StoredFunction>;
  readonly changing: Changing;
  readonly change: (one: StoredFunction, action: 'enable' | 'disable' | 'activate', body?: object) => Promise<void>;
}

const Functions = ({ first, changing: { isChanging }, change }: FunctionsProperties) => {
  const rights = useRights();
  const columns: readonly Column<StoredFunction>[] = [
    {
      title: 'Function',
      show: ({ workspace, id }) => (
        <Link view="function" parameters={{ workspace, id }}>
          gw/function/{id}
        </Link>
      ),
    },
    { title: 'Workspace', show: ({ workspace }) => workspace },
    { title: 'Kind', show: ({ kind }) => kind },
    { title: 'Status', show: ({ status }) => status },
    { title: 'Serving', show: ({ active }) => active ?? none },
    {
      title: 'Revision',
      show: (one) =>
        rights.holds('editor', one.workspace) ? (
          <Activation
            one={one}
            isChanging={isChanging}
            activate={(revision) => change(one, 'activate', { revision })}
          />
        ) : (
          none
        ),
    },
    {
      title: 'Actions',
      show: (one) => {
        if (!rights.holds('editor', one.workspace)) return none;
        const action = one.status === 'disabled' ? 'enable' : 'disable';
        return (
          <button
            type="button"
            class={action === 'disable' ? 'danger' : ''}
            disabled={isChanging}
            aria-label={`${action} ${one.id}`}
            onClick={() => void change(one, action)}
          >
            {action === 'enable' ? 'Enable' : 'Disable'}
          </button>
        );
      },
    },
  ];
  return (
    <PagedTable
      caption="Stored functions"
      path={path}
      first={first}
      columns={columns}
      rowsOf={allRows}
      keyOf={({ workspace, id }) => `${workspace}/${id}`}
      empty={() => 'There is no stored function. Make one here, or write it in the gateway file of its workspace.'}
      moreTitle="More functions"
    />
  );
};

interface ActivationProperties {
  readonly one: StoredFunction;
  readonly isChanging: boolean;
  readonly activate: (revision: string) => Promise<void>;
}

const Activation = ({ one: { id, active, revisions }, isChanging, activate }: ActivationProperties) => {
  const [chosen, setChosen] = useState(active ?? revisions[0]?.id ?? '');
  const revision = revisions.find((known) => known.id === chosen);
  return (
    <span class="actions">
      <select
        value={chosen}
        aria-label={`Revision of ${id}`}
        onChange={({ currentTarget }) => setChosen(currentTarget.value)}
      >
        {revisions.map((known) => (
          <option key={known.id} value={known.id}>
            {known.id}, {known.state}
          </option>
        ))}
      </select>
      <button
        type="button"
        disabled={isChanging || chosen === active || revision === undefined}
        aria-label={`Activate ${chosen} of ${id}`}
        onClick={() => void activate(chosen)}
      >
        Activate
      </button>
      {revision?.expires_at && (
        <span class="muted">
          expires <Time instant={revision.expires_at} />
        </span>
      )}
    </span>
  );
};
