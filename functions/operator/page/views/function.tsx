// One stored function: its revisions with their texts, two of them compared, test cases run, a new one published.
import { useState } from 'preact/hooks';
import { type Address, goTo } from '../connection/address.ts';
import type { ShownFunction, Single } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Field } from '../parts/field.tsx';
import { none } from '../parts/shown-values.ts';
import { Failure, Shown } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time, timeOrNone } from '../parts/time.tsx';
import { useChange } from '../parts/use-change.ts';
import { CaseResults } from './function-cases.tsx';
import { PublishRevision } from './publish-revision.tsx';
import { RevisionText } from './revision-text.tsx';

type Revision = ShownFunction['revisions'][number];
/** `activates`: the revision serves once its cases were passed. */
type Task =
  | { readonly kind: 'publish' }
  | { readonly kind: 'cases'; readonly revision: string; readonly activates: boolean };

export const FunctionView = ({ address }: { readonly address: Address }) => {
  const [workspace, id] = [address.parameters.get('workspace') ?? '', address.parameters.get('id') ?? ''];
  const path = `functions/${encodeURIComponent(workspace)}/${encodeURIComponent(id)}`;
  const loaded = useManaged<Single<ShownFunction>>(path);
  return (
    <Shown loaded={loaded}>
      {({ data }) => <Details shown={data} path={path} address={address} changed={loaded.reload} />}
    </Shown>
  );
};

interface DetailsProperties {
  readonly shown: ShownFunction;
  readonly path: string;
  readonly address: Address;
  readonly changed: () => void;
}

const Details = ({ shown, path, address, changed }: DetailsProperties) => {
  const { workspace, id, kind, status, active, revisions } = shown;
  const mayChange = useRights().holds('editor', workspace);
  const { isChanging, failure, run } = useChange();
  const toActivate = address.parameters.get('activate');
  const [task, setTask] = useState<Task | undefined>(
    toActivate === null ? undefined : { kind: 'cases', revision: toActivate, activates: true },
  );
  const change = async (action: 'enable' | 'disable' | 'activate', body?: object) => {
    if ((await run(`${path}/${action}`, { method: 'POST', ...(body ? { body } : {}) })) !== undefined) changed();
  };
  const left = address.parameters.get('left') ?? active ?? revisions[0]?.id ?? '';
  const right = address.parameters.get('right') ?? revisions.at(-1)?.id ?? '';
  const choose = (name: 'left' | 'right', revision: string) =>
    goTo('function', { ...Object.fromEntries(address.parameters), [name]: revision });
  const contentOf = (revision: string) => revisions.find((one) => one.id === revision)?.content;
  const action = status === 'disabled' ? 'enable' : 'disable';
  return (
    <>
      <p>
        <code>gw/function/{id}</code> of {workspace}: {kind}, {status}, serving {active ?? none}
      </p>
      {failure && <Failure failure={failure} />}
      {mayChange && (
        <p class="actions">
          <button type="button" class="main" onClick={() => setTask({ kind: 'publish' })}>
            Publish a revision
          </button>
          <button
            type="button"
            class={action === 'disable' ? 'danger' : ''}
            disabled={isChanging}
            onClick={() => void change(action)}
          >
            {action === 'enable' ? 'Enable' : 'Disable'}
          </button>
        </p>
      )}
      <Table
        caption="Revisions"
        rows={revisions}
        keyOf={(one) => one.id}
        empty="There is no revision yet. Publish one."
        columns={columns({
          active,
          mayChange,
          isChanging,
          activate: (revision) => void change('activate', { revision }),
          runCases: (revision, activates) => setTask({ kind: 'cases', revision, activates }),
        })}
      />
      {task?.kind === 'cases' && (
        <CaseResults
          key={task.revision}
          workspace={workspace}
          functionId={id}
          revision={task.revision}
          activates={task.activates}
          qualified={() => (task.activates ? void change('activate', { revision: task.revision }) : changed())}
        />
      )}
      {task?.kind === 'publish' && (
        <PublishRevision
          of={shown}
          close={() => setTask(undefined)}
          saved={(_one, revision) => {
            setTask(revision === undefined ? undefined : { kind: 'cases', revision, activates: true });
            changed();
          }}
        />
      )}
      {revisions.length > 0 && (
        <>
          <h2>Texts</h2>
          <div class="filters">
            {(['left', 'right'] as const).map((name) => (
              <Field key={name} title={name === 'left' ? 'Revision' : 'Compared with'}>
                <select
                  value={name === 'left' ? left : right}
                  onChange={({ currentTarget }) => choose(name, currentTarget.value)}
                >
                  {revisions.map((one) => (
                    <option key={one.id}>{one.id}</option>
                  ))}
                </select>
              </Field>
            ))}
          </div>
          <RevisionText left={contentOf(left)} right={contentOf(right)} />
        </>
      )}
    </>
  );
};

interface ColumnsProperties {
  readonly active: string | null;
  readonly mayChange: boolean;
  readonly isChanging: boolean;
  readonly activate: (revision: string) => void;
  readonly runCases: (revision: string, activates: boolean) => void;
}

const columns = ({
  active,
  mayChange,
  isChanging,
  activate,
  runCases,
}: ColumnsProperties): readonly Column<Revision>[] => [
  { title: 'Revision', show: ({ id }) => (id === active ? <strong>{id} (serving)</strong> : id) },
  { title: 'State', show: ({ state }) => state },
  {
    title: 'Cases',
    show: ({ has_cases, qualified_at }) =>
      has_cases ? qualified_at === null ? 'not passed yet' : <Time instant={qualified_at} /> : none,
  },
  { title: 'Activated', show: ({ activated_at }) => timeOrNone(activated_at) },
  { title: 'Expires', show: ({ expires_at }) => timeOrNone(expires_at) },
  {
    title: 'Actions',
    show: ({ id, has_cases, qualified_at, state }) =>
      mayChange && (
        <span class="actions">
          {has_cases && (
            <button type="button" aria-label={`Run cases of ${id}`} onClick={() => runCases(id, false)}>
              Run cases
            </button>
          )}
          <button
            type="button"
            aria-label={`Activate ${id}`}
            disabled={isChanging || id === active || state === 'expired'}
            onClick={() => {
              if (state === 'draft' && has_cases && qualified_at === null) runCases(id, true);
              else activate(id);
            }}
          >
            Activate
          </button>
        </span>
      ),
  },
];
