// The form that makes a workspace, or changes one. What stays as it was is not sent, so that changes of others hold.
import type { ComponentChildren } from 'preact';
import type { Single, Workspace } from '../connection/documents.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FormEnd } from '../parts/form-end.tsx';
import { useChange } from '../parts/use-change.ts';
import { readWorkspaceForm, workspaceChanges } from './workspace-fields.ts';

interface WorkspaceFormProperties {
  /** Undefined: the form makes a workspace. */
  readonly changed?: Workspace;
  readonly close: () => void;
  readonly saved: () => void;
}

export const WorkspaceForm = ({ changed, close, saved }: WorkspaceFormProperties) => {
  const { isChanging, failure, run } = useChange();
  const save = async (form: HTMLFormElement) => {
    const fields = readWorkspaceForm(form);
    const answer =
      changed === undefined
        ? await run<Single<Workspace>>('workspaces', { method: 'POST', body: workspaceChanges(fields, undefined) })
        : await run<Single<Workspace>>(`workspaces/${encodeURIComponent(changed.id)}`, {
            method: 'PATCH',
            body: workspaceChanges(fields, changed),
          });
    if (answer !== undefined) saved();
  };
  const policy = changed?.data_policy;
  return (
    <Dialog title={changed === undefined ? 'Make a workspace' : `Change workspace ${changed.id}`} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
        {changed === undefined && (
          <>
            <Field title="Id">
              <input name="id" required pattern="[a-z0-9][a-z0-9_\-]*" title="Lower-case letters, digits, _ and -" />
            </Field>
            <Field title="Credit in USD">
              <input name="credit_usd" inputMode="decimal" pattern="\d+(\.\d+)?" placeholder="0" />
            </Field>
          </>
        )}
        <Field title="Spend limit in USD">
          <input
            name="spend_limit_usd"
            inputMode="decimal"
            pattern="\d+(\.\d+)?"
            defaultValue={changed?.spend_limit_usd ?? ''}
            placeholder="no limit"
          />
        </Field>
        <Field title="Calls at once">
          <input
            name="concurrency"
            type="number"
            min={1}
            defaultValue={changed?.concurrency ?? ''}
            placeholder="no limit of its own"
          />
        </Field>
        <Field title="Calls of functions at once">
          <input
            name="function_concurrency"
            type="number"
            min={1}
            defaultValue={changed?.function_concurrency ?? ''}
            placeholder="no limit"
          />
        </Field>
        <Field title="Models">
          <input
            name="models"
            defaultValue={changed === undefined || changed.models === 'all' ? '' : changed.models.join(', ')}
            placeholder="all; or ids with commas between them"
            spellcheck={false}
          />
        </Field>
        <label class="check">
          <input type="checkbox" name="zdr" defaultChecked={policy?.zdr === true} />
          Only providers that keep nothing (zero data retention)
        </label>
        <label class="check">
          <input type="checkbox" name="deny" defaultChecked={policy?.data_collection === 'deny'} />
          Only providers that do not train on what they get
        </label>
        <Field title="Only in these regions">
          <input
            name="data_residency"
            defaultValue={policy?.data_residency?.join(', ') ?? ''}
            placeholder="any; or such as eu, us"
            spellcheck={false}
          />
        </Field>
        <label class="check">
          <input type="checkbox" name="byok" defaultChecked={changed?.features.byok === true} />
          Own provider keys
        </label>
        <label class="check">
          <input type="checkbox" name="presets" defaultChecked={changed?.features.presets === true} />
          Presets
        </label>
        <FormEnd
          failure={failure}
          isChanging={isChanging}
          send={changed === undefined ? 'Make the workspace' : 'Save'}
          close={close}
        />
      </form>
    </Dialog>
  );
};

const Field = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is its child
  <label>
    {title}
    {children}
  </label>
);
