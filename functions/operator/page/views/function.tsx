// Shows one stored function: its revisions with their texts, a comparison of two revisions, runs of test cases, and the
// form that publishes a revision.
import { useState } from 'preact/hooks';
import { compareLines } from '../../../../shared/foundation/lines/index.ts';
import type { ViewAddress } from '../connection/address.ts';
import { runCases } from '../connection/cases-run.ts';
import type { Cases, ShownFunction } from '../connection/documents.ts';
import { changeFunction, type FunctionAction } from '../connection/function-changes.ts';
import { useManagementRequest } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { useBaseUrl } from '../connection/settings.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { ChoiceFilter } from '../parts/filters.tsx';
import { Form, formValues } from '../parts/form.tsx';
import { none } from '../parts/shown-values.ts';
import { Failure, Shown } from '../parts/states.tsx';
import { countColumn, Table, type TableColumn, textColumn } from '../parts/table.tsx';
import { Time, timeOrNone } from '../parts/time.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { DisableFunction } from './disable-function.tsx';
import { PublishRevision } from './publish-revision.tsx';

type Revision = ShownFunction['revisions'][number];
/** `activates` means that the revision becomes active once its cases have passed. */
type Task =
  | { readonly kind: 'publish' | 'disable' }
  | { readonly kind: 'cases'; readonly revision: string; readonly activates: boolean };

export const FunctionView = ({ address }: { readonly address: ViewAddress }) => {
  const [workspace, id] = [address.parameters.get('workspace') ?? '', address.parameters.get('id') ?? ''];
  const loaded = useManagementRequest('GET /functions/{workspace}/{id}', { names: { workspace, id } });
  return (
    <Shown loaded={loaded}>{({ data }) => <Details shown={data} address={address} changed={loaded.reload} />}</Shown>
  );
};

interface DetailsProperties {
  readonly shown: ShownFunction;
  readonly address: ViewAddress;
  readonly changed: () => void;
}

const Details = ({ shown, address, changed }: DetailsProperties) => {
  const { workspace, id, kind, status, active, revisions } = shown;
  const mayChange = useRights().holds('editor', workspace);
  const { isRunning, failure, run } = useRequests();
  const toActivate = address.parameters.get('activate');
  const [task, setTask] = useState<Task | undefined>(
    toActivate === null ? undefined : { kind: 'cases', revision: toActivate, activates: true },
  );
  const change = async (wanted: FunctionAction) => {
    if ((await run(() => changeFunction(shown, wanted))) !== undefined) changed();
  };
  const action = status === 'disabled' ? 'enable' : 'disable';
  return (
    <>
      <p>
        <code>gw/function/{id}</code> of {workspace}: {kind}, {status}, serving {active ?? none}
      </p>
      <Failure failure={failure} />
      {mayChange && (
        <p class="actions">
          <Button text="Publish a revision" kind="main" onClick={() => setTask({ kind: 'publish' })} />
          <Button
            text={action === 'enable' ? 'Enable' : 'Disable'}
            kind={action === 'disable' ? 'danger' : undefined}
            disabled={isRunning}
            onClick={() => (action === 'disable' ? setTask({ kind: 'disable' }) : change(action))}
          />
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
          isRunning,
          activate: (activate) => change({ activate }),
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
          qualified={() => (task.activates ? void change({ activate: task.revision }) : changed())}
        />
      )}
      {task?.kind === 'disable' && (
        <DisableFunction
          target={shown}
          close={() => setTask(undefined)}
          done={() => {
            setTask(undefined);
            changed();
          }}
        />
      )}
      {task?.kind === 'publish' && (
        <PublishRevision
          existing={shown}
          close={() => setTask(undefined)}
          saved={(_one, revision) => {
            setTask(revision === undefined ? undefined : { kind: 'cases', revision, activates: true });
            changed();
          }}
        />
      )}
      {revisions.length > 0 && <Texts shown={shown} address={address} />}
    </>
  );
};

const Texts = ({ shown: { active, revisions }, address }: Pick<DetailsProperties, 'shown' | 'address'>) => {
  const left = address.parameters.get('left') ?? active ?? revisions[0]?.id ?? '';
  const right = address.parameters.get('right') ?? revisions.at(-1)?.id ?? '';
  const textOf = (revision: string) => revisions.find((one) => one.id === revision)?.text;
  return (
    <>
      <h2>Texts</h2>
      <div class="filters">
        {[
          { name: 'left', title: 'Revision', value: left },
          { name: 'right', title: 'Compared with', value: right },
        ].map((choice) => (
          <ChoiceFilter key={choice.name} {...choice} address={address} options={revisions.map((one) => one.id)} />
        ))}
      </div>
      <RevisionText left={textOf(left)} right={textOf(right)} />
    </>
  );
};

interface ColumnsProperties {
  readonly active: string | null;
  readonly mayChange: boolean;
  readonly isRunning: boolean;
  readonly activate: (revision: string) => Promise<void>;
  readonly runCases: (revision: string, activates: boolean) => void;
}

const columns = (properties: ColumnsProperties): readonly TableColumn<Revision>[] => [
  {
    title: 'Revision',
    value: ({ id }) => id,
    show: ({ id }) => (id === properties.active ? <strong>{id} (serving)</strong> : id),
  },
  textColumn('State', ({ state }) => state),
  {
    title: 'Cases',
    show: ({ has_cases, qualified_at }) =>
      has_cases ? qualified_at === null ? 'not passed yet' : <Time instant={qualified_at} /> : none,
  },
  {
    title: 'Activated',
    value: ({ activated_at }) => activated_at,
    show: ({ activated_at }) => timeOrNone(activated_at),
  },
  { title: 'Expires', value: ({ expires_at }) => expires_at, show: ({ expires_at }) => timeOrNone(expires_at) },
  {
    title: 'Actions',
    show: (revision) => properties.mayChange && <Actions revision={revision} {...properties} />,
  },
];

type ActionsProperties = ColumnsProperties & { readonly revision: Revision };

const Actions = ({ revision, active, isRunning, activate, runCases }: ActionsProperties) => {
  const { id, has_cases, qualified_at, state } = revision;
  const isTestedFirst = state === 'draft' && has_cases && qualified_at === null;
  return (
    <span class="actions">
      {has_cases && <Button text="Run cases" label={`Run cases of ${id}`} onClick={() => runCases(id, false)} />}
      <Button
        text="Activate"
        label={`Activate ${id}`}
        disabled={isRunning || id === active || state === 'expired'}
        onClick={() => (isTestedFirst ? runCases(id, true) : activate(id))}
      />
    </span>
  );
};

// Shows the texts of two revisions as one text, and marks the lines that are in only one revision.

const marks = { same: ' ', removed: '−', added: '+' } as const;

const RevisionText = ({
  left = '',
  right = '',
}: {
  readonly left?: string | undefined;
  readonly right?: string | undefined;
}) => {
  const lines = compareLines(left.trimEnd().split('\n'), right.trimEnd().split('\n'));
  return (
    <pre class="compared">
      {lines.map(({ kind, text }, at) => (
        <span key={at} class={kind}>
          {marks[kind]} {text}
          {'\n'}
        </span>
      ))}
    </pre>
  );
};

// Runs the test cases of a revision with an API key of its workspace, and shows how each was judged.

type Case = Cases['cases'][number];

interface CaseResultsProperties {
  readonly workspace: string;
  readonly functionId: string;
  readonly revision: string;
  /** True if the revision becomes active once its cases have passed. */
  readonly activates: boolean;
  readonly qualified: () => void;
}

const CaseResults = ({ workspace, functionId, revision, activates, qualified }: CaseResultsProperties) => {
  const baseUrl = useBaseUrl();
  const [cases, setCases] = useState<Cases>();
  const { isRunning, failure, run } = useRequests();
  const start = async (form: HTMLFormElement) => {
    const key = formValues(form).text('api-key');
    setCases(undefined);
    const judged = await run(() => runCases({ workspace, functionId, revision, baseUrl, key }, setCases));
    if (judged?.is_qualified) qualified();
  };
  return (
    <section aria-label={`Cases of ${revision}`}>
      <h2>Cases of {revision}</h2>
      <Form class="filters" submit={start}>
        <Field title={`API key of ${workspace}`}>
          <input name="api-key" type="password" required autocomplete="off" placeholder="sk-gw-…" />
        </Field>
        <button type="submit" class="main" disabled={isRunning}>
          Run
        </button>
      </Form>
      <p class="muted">
        The calls are real, and cost what they cost. Once all cases pass, the revision{' '}
        {activates ? 'serves' : 'may be activated'}.
      </p>
      <Failure failure={failure} />
      {cases && (
        <div aria-busy={isRunning}>
          {cases.is_qualified && <p role="status">All cases passed: {revision} is qualified.</p>}
          <Table
            caption="Cases"
            rows={cases.cases}
            keyOf={({ number }) => String(number)}
            empty="This revision has no cases."
            columns={[
              countColumn<Case>('Case', ({ number }) => number),
              textColumn<Case>('Result', ({ state }) => state),
              textColumn<Case>('Why', ({ problem }) => problem),
              textColumn<Case>('Answer', ({ answer }) => answer),
            ]}
          />
        </div>
      )}
    </section>
  );
};
