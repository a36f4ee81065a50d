// The form that publishes a revision: of a function that there is, or with a new function.
import { useState } from 'preact/hooks';
import type { ShownFunction, StoredFunction } from '../connection/documents.ts';
import { RequestFailed } from '../connection/management.ts';
import { useWorkspaceNames } from '../connection/workspace-names.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { FormEnd } from '../parts/form-end.tsx';
import { formValues } from '../parts/form-values.ts';
import { useChange } from '../parts/use-change.ts';

interface PublishRevisionProperties {
  /** Undefined: the function is new too. */
  readonly of?: ShownFunction;
  readonly close: () => void;
  /** `toActivate`: a draft that shall serve once its cases were passed. */
  readonly saved: (one: Pick<StoredFunction, 'workspace' | 'id'>, toActivate: string | undefined) => void;
}

const firstContent = { model: 'auto', messages: [{ role: 'user', content: '{{input}}' }] };
const idPattern = '[A-Za-z0-9_\\-]{1,64}';
const idTitle = 'Letters, digits, - and _';

export const PublishRevision = ({ of, close, saved }: PublishRevisionProperties) => {
  const workspaces = useWorkspaceNames('editor');
  const { isChanging, failure, run } = useChange();
  const [fault, setFault] = useState<RequestFailed>();
  const [before] = useState(() => of?.revisions.find(({ id }) => id === of.active)?.content ?? firstContent);
  const publish = async (form: HTMLFormElement) => {
    const { text, has } = formValues(form);
    setFault(undefined);
    let content: unknown;
    try {
      content = JSON.parse(text('content'));
    } catch {
      setFault(new RequestFailed('not sent', 'The revision is no JSON.'));
      return;
    }
    const { workspace, id, kind } = of ?? { workspace: text('workspace'), id: text('function'), kind: text('kind') };
    const revision = { ...(content as { readonly cases?: readonly unknown[] }), id: text('revision') };
    const path = `functions/${encodeURIComponent(workspace)}/${encodeURIComponent(id)}/revisions`;
    const [activates, skipsCases] = [has('activate'), has('skip-cases')];
    const runsCases = activates && !skipsCases && (revision.cases ?? []).length > 0;
    const body = { kind, revision, activate: activates && !runsCases, skip_cases: skipsCases };
    if ((await run(path, { method: 'POST', body })) === undefined) return;
    saved({ workspace, id }, runsCases ? revision.id : undefined);
  };
  return (
    <Dialog title={of === undefined ? 'Make a function' : `Publish a revision of ${of.id}`} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void publish(event.currentTarget);
        }}
      >
        {of === undefined && (
          <>
            <Field title="Workspace">
              <select name="workspace" required>
                {workspaces.map((id) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
            </Field>
            <Field title="Function">
              <input name="function" required pattern={idPattern} title={idTitle} />
            </Field>
            <Field title="Kind">
              <select name="kind">
                <option>prompt</option>
                <option>workflow</option>
              </select>
            </Field>
          </>
        )}
        <Field title="Revision">
          <input name="revision" required pattern={idPattern} title={idTitle} />
        </Field>
        <Field title="What it holds, as in the gateway file (JSON)">
          <textarea
            name="content"
            class="code"
            rows={14}
            spellcheck={false}
            defaultValue={JSON.stringify(before, null, 2)}
          />
        </Field>
        <label class="check">
          <input type="checkbox" name="activate" />
          It serves from now on, after its cases were passed
        </label>
        <label class="check">
          <input type="checkbox" name="skip-cases" />
          Skip its cases
        </label>
        <FormEnd failure={fault ?? failure} isChanging={isChanging} send="Publish" close={close} />
      </form>
    </Dialog>
  );
};
