// Shows the form that publishes a revision of an existing function, or a new function.
import { useState } from 'preact/hooks';
import type { ShownFunction, StoredFunction } from '../connection/documents.ts';
import { changeFunction } from '../connection/function-changes.ts';
import { manage } from '../connection/management.ts';
import { useWorkspaceNames } from '../connection/session-rights.ts';
import { CheckField, Choice, TextField } from '../parts/field.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { TextEditor } from '../parts/text-editor.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface PublishRevisionProperties {
  /** The function; undefined if the function is new too. */
  readonly existing?: ShownFunction;
  readonly close: () => void;
  /** Called when the revision is saved. `toActivate` is a draft that becomes active once its cases have passed. */
  readonly saved: (one: Pick<StoredFunction, 'workspace' | 'id'>, toActivate: string | undefined) => void;
}

const firstText = 'model: auto\nmessages:\n  - role: user\n    content: "{{input}}"\n';
const idHint = { pattern: '[A-Za-z0-9_\\-]{1,64}', hint: 'Letters, digits, - and _' };

export const PublishRevision = ({ existing, close, saved }: PublishRevisionProperties) => {
  const workspaces = useWorkspaceNames('editor');
  const requests = useRequests();
  const [before] = useState(() => existing?.revisions.find(({ id }) => id === existing.active)?.text ?? firstText);
  const publish = (form: HTMLFormElement) =>
    requests.run(async () => {
      const { text, has } = formValues(form);
      const { workspace, id, kind } = existing ?? {
        workspace: text('workspace'),
        id: text('function'),
        kind: text('kind') as StoredFunction['kind'],
      };
      const [activates, skipsCases] = [has('activate'), has('skip-cases')];
      const [one, revision] = [{ workspace, id }, text('revision')];
      const { data } = await manage('POST /functions/{workspace}/{id}/revisions', {
        names: one,
        body: {
          kind,
          revision: text('content'),
          id: revision,
          activate: activates && skipsCases,
          skip_cases: skipsCases,
        },
      });
      const hasCases = data.revisions.some(({ id, has_cases }) => id === revision && has_cases);
      const runsCases = activates && !skipsCases && hasCases;
      if (activates && !skipsCases && !hasCases) await changeFunction(one, { activate: revision });
      saved(one, runsCases ? revision : undefined);
    });
  return (
    <FormDialog
      title={existing === undefined ? 'Make a function' : `Publish a revision of ${existing.id}`}
      close={close}
      submit={publish}
      requests={requests}
      send="Publish"
    >
      {existing === undefined && (
        <>
          <Choice title="Workspace" name="workspace" required options={workspaces} />
          <TextField title="Function" name="function" required {...idHint} />
          <Choice title="Kind" name="kind" options={['prompt', 'workflow']} />
        </>
      )}
      <TextField title="Revision" name="revision" required {...idHint} />
      <TextEditor
        title="What it holds, as in the gateway file (YAML)"
        name="content"
        rows={14}
        initial={before}
        fault={requests.failure?.message}
      />
      <CheckField title="Activate it once its cases have passed" name="activate" />
      <CheckField title="Skip its cases" name="skip-cases" />
    </FormDialog>
  );
};
