// The form that publishes a revision: of a function that there is, or with a new function.
import { useState } from 'preact/hooks';
import type { ShownFunction, StoredFunction } from '../connection/documents.ts';
import { manage, RequestFailed } from '../connection/management.ts';
import { useWorkspaceNames } from '../connection/session-rights.ts';
import { CheckField, Choice, Field, TextField } from '../parts/field.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface PublishRevisionProperties {
  /** Undefined: the function is new too. */
  readonly of?: ShownFunction;
  readonly close: () => void;
  /** `toActivate`: a draft that shall serve once its cases were passed. */
  readonly saved: (one: Pick<StoredFunction, 'workspace' | 'id'>, toActivate: string | undefined) => void;
}

const firstContent = { model: 'auto', messages: [{ role: 'user', content: '{{input}}' }] };
const idForm = { pattern: '[A-Za-z0-9_\\-]{1,64}', form: 'Letters, digits, - and _' };

export const PublishRevision = ({ of, close, saved }: PublishRevisionProperties) => {
  const workspaces = useWorkspaceNames('editor');
  const requests = useRequests();
  const [before] = useState(() => of?.revisions.find(({ id }) => id === of.active)?.content ?? firstContent);
  const publish = (form: HTMLFormElement) =>
    requests.run(async () => {
      const { text, has } = formValues(form);
      const { workspace, id, kind } = of ?? {
        workspace: text('workspace'),
        id: text('function'),
        kind: text('kind') as StoredFunction['kind'],
      };
      const revision = { ...readContent(text('content')), id: text('revision') };
      const [activates, skipsCases] = [has('activate'), has('skip-cases')];
      const runsCases = activates && !skipsCases && (revision.cases ?? []).length > 0;
      const body = { kind, revision, activate: activates && !runsCases, skip_cases: skipsCases };
      await manage('POST /functions/{workspace}/{id}/revisions', { names: { workspace, id }, body });
      saved({ workspace, id }, runsCases ? revision.id : undefined);
    });
  return (
    <FormDialog
      title={of === undefined ? 'Make a function' : `Publish a revision of ${of.id}`}
      close={close}
      submit={publish}
      requests={requests}
      send="Publish"
    >
      {of === undefined && (
        <>
          <Choice title="Workspace" name="workspace" required options={workspaces} />
          <TextField title="Function" name="function" required {...idForm} />
          <Choice title="Kind" name="kind" options={['prompt', 'workflow']} />
        </>
      )}
      <TextField title="Revision" name="revision" required {...idForm} />
      <Field title="What it holds, as in the gateway file (JSON)">
        <textarea
          name="content"
          class="code"
          rows={14}
          spellcheck={false}
          defaultValue={JSON.stringify(before, null, 2)}
        />
      </Field>
      <CheckField title="It serves from now on, after its cases were passed" name="activate" />
      <CheckField title="Skip its cases" name="skip-cases" />
    </FormDialog>
  );
};

function readContent(text: string): { readonly cases?: readonly unknown[] } {
  try {
    return JSON.parse(text) as { readonly cases?: readonly unknown[] };
  } catch {
    throw new RequestFailed('not sent', 'The revision is no JSON.');
  }
}
