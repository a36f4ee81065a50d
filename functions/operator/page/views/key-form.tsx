// The form that makes a key, or changes one. An empty field means no such limit.
import type { Key, NewKey } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { useRights, useWorkspaceNames } from '../connection/session-rights.ts';
import { ContentLogFields } from '../parts/content-log-fields.tsx';
import { Choice, CountField, ModelsField, ResetChoice, SpendLimitField, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form.tsx';
import { tagPairs } from '../parts/shown-values.ts';
import { useRequests } from '../parts/use-requests.ts';
import { countLimits, differences, localForm, readFields, withoutNull } from './key-fields.ts';

interface KeyFormProperties {
  /** Undefined when the form makes a key. */
  readonly changed?: Key;
  readonly close: () => void;
  readonly saved: (key: Key | NewKey) => void;
}

/** Pairs with commas between them, no name twice. The gateway checks names and values. */
const tagsPattern = String.raw`\s*(?!(.*,\s*)?([^,=]+)=.*,\s*\2=)[^,=]+=[^,=]+(,[^,=]+=[^,=]+)*`;

export const KeyForm = ({ changed, close, saved }: KeyFormProperties) => {
  const requests = useRequests();
  // A person makes keys of their own where they are a member.
  const rights = useRights();
  const workspaces = useWorkspaceNames(rights.isPerson ? 'member' : 'editor');
  const save = async (form: HTMLFormElement) => {
    const fields = readFields(form);
    const send = () =>
      changed === undefined
        ? manage('POST /keys', { body: withoutNull(fields) })
        : manage('PATCH /keys/{public_id}', { names: changed, body: differences(fields, changed) });
    const answer = await requests.run<{ readonly data: Key | NewKey }>(send);
    if (answer !== undefined) saved(answer.data);
  };
  return (
    <FormDialog
      title={changed === undefined ? 'Make a key' : `Change key ${changed.name}`}
      close={close}
      submit={save}
      requests={requests}
      send={changed === undefined ? 'Make the key' : 'Save'}
    >
      {changed === undefined && <Choice title="Workspace" name="workspace" required options={workspaces} />}
      <TextField title="Name" name="name" required maxLength={64} initial={changed?.name} autocomplete="off" />
      {countLimits.map(({ member, title, absent }) => (
        <CountField key={member} title={title} name={member} initial={changed?.[member]} placeholder={absent} />
      ))}
      <SpendLimitField initial={changed?.spend_limit_usd} />
      <ResetChoice name="spend_limit_reset" initial={changed?.spend_limit_reset} />
      <TextField
        title="Expires"
        name="expires_at"
        type="datetime-local"
        initial={localForm(changed?.expires_at ?? null)}
      />
      <ModelsField initial={changed?.models} placeholder="all of the workspace" aria-describedby="models-help" />
      <p id="models-help" class="muted">
        Catalogue ids with commas between them.
      </p>
      <TextField
        title="Tags"
        name="tags"
        pattern={tagsPattern}
        form="Pairs such as team=search, feature=rerank, each name once"
        initial={tagPairs(changed?.tags ?? {})}
        placeholder="none"
        aria-describedby="tags-help"
      />
      <p id="tags-help" class="muted">
        On each call with this key, whatever a request says under the same names: team=search, feature=rerank.
      </p>
      <TextField
        title="Guardrails"
        name="guardrails"
        initial={changed?.guardrails.join(', ')}
        placeholder="those of the workspace alone"
        aria-describedby="guardrails-help"
      />
      <p id="guardrails-help" class="muted">
        Ids with commas between them, which check its calls beside those of the workspace.
      </p>
      {rights.holds('editor', changed?.workspace) && (
        <ContentLogFields initial={changed?.content_log} absent={{ keep: 'not narrowed', share: 'not narrowed' }} />
      )}
    </FormDialog>
  );
};
