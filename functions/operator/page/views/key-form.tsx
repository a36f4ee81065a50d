// The form that makes a key, or changes one. An empty field means: no such limit.
import type { Key, NewKey, Single } from '../connection/documents.ts';
import { useRights } from '../connection/session-rights.ts';
import { useWorkspaceNames } from '../connection/workspace-names.ts';
import { Dialog } from '../parts/dialog.tsx';
import { AmountField, CountField, ResetChoice } from '../parts/field.tsx';
import { FormEnd } from '../parts/form-end.tsx';
import { tagPairs } from '../parts/shown-values.ts';
import { useChange } from '../parts/use-change.ts';
import { countLimits, differences, localForm, readFields, withoutNull } from './key-fields.ts';

interface KeyFormProperties {
  /** Undefined: the form makes a key. */
  readonly changed?: Key;
  readonly close: () => void;
  readonly saved: (key: Key | NewKey) => void;
}

/** Pairs with commas between them, no name twice. What a name and a value may hold is for the gateway to say. */
const tagsPattern = String.raw`\s*(?!(.*,\s*)?([^,=]+)=.*,\s*\2=)[^,=]+=[^,=]+(,[^,=]+=[^,=]+)*`;

export const KeyForm = ({ changed, close, saved }: KeyFormProperties) => {
  const { isChanging, failure, run } = useChange();
  // A person makes keys of their own where they are a member.
  const workspaces = useWorkspaceNames(useRights().isPerson ? 'member' : 'editor');
  const save = async (form: HTMLFormElement) => {
    const fields = readFields(form);
    const answer =
      changed === undefined
        ? await run<Single<NewKey>>('keys', { method: 'POST', body: withoutNull(fields) })
        : await run<Single<Key>>(`keys/${encodeURIComponent(changed.public_id)}`, {
            method: 'PATCH',
            body: differences(fields, changed),
          });
    if (answer !== undefined) saved(answer.data);
  };
  return (
    <Dialog title={changed === undefined ? 'Make a key' : `Change key ${changed.name}`} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
        {changed === undefined && (
          <label>
            Workspace
            <select name="workspace" required>
              {workspaces.map((id) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          Name
          <input name="name" required maxLength={64} defaultValue={changed?.name ?? ''} autocomplete="off" />
        </label>
        {countLimits.map(({ member, title, absent }) => (
          <CountField key={member} title={title} name={member} initial={changed?.[member]} placeholder={absent} />
        ))}
        <AmountField
          title="Spend limit in USD"
          name="spend_limit_usd"
          initial={changed?.spend_limit_usd}
          placeholder="no limit"
        />
        <ResetChoice name="spend_limit_reset" initial={changed?.spend_limit_reset ?? null} />
        <label>
          Expires
          <input name="expires_at" type="datetime-local" defaultValue={localForm(changed?.expires_at ?? null)} />
        </label>
        <label>
          Models
          <input
            name="models"
            defaultValue={changed === undefined || changed.models === 'all' ? '' : changed.models.join(', ')}
            placeholder="all of the workspace"
            spellcheck={false}
            aria-describedby="models-help"
          />
        </label>
        <p id="models-help" class="muted">
          Catalogue ids with commas between them.
        </p>
        <label>
          Tags
          <input
            name="tags"
            pattern={tagsPattern}
            title="Pairs such as team=search, feature=rerank, each name once"
            defaultValue={tagPairs(changed?.tags ?? {})}
            placeholder="none"
            spellcheck={false}
            autocapitalize="none"
            aria-describedby="tags-help"
          />
        </label>
        <p id="tags-help" class="muted">
          On each call with this key, whatever a request says under the same names: team=search, feature=rerank.
        </p>
        <FormEnd
          failure={failure}
          isChanging={isChanging}
          send={changed === undefined ? 'Make the key' : 'Save'}
          close={close}
        />
      </form>
    </Dialog>
  );
};
