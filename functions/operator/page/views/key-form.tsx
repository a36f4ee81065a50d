// The form that makes a key, or changes one. An empty field means: no such limit.
import { useState } from 'preact/hooks';
import type { Key, List, NewKey, Single, Workspace } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/states.tsx';
import { useChange } from '../parts/use-change.ts';

interface KeyFormProperties {
  /** Undefined: the form makes a key. */
  readonly changed?: Key;
  readonly close: () => void;
  readonly saved: (key: Key | NewKey) => void;
}

export const KeyForm = ({ changed, close, saved }: KeyFormProperties) => {
  const { isChanging, failure, run } = useChange();
  const workspaces = useManaged<List<Workspace>>('workspaces?limit=200');
  const save = async (form: HTMLFormElement) => {
    const fields = readFields(form);
    const answer =
      changed === undefined
        ? await run<Single<NewKey>>('keys', { method: 'POST', body: withoutNull(fields) })
        : await run<Single<Key>>(`keys/${encodeURIComponent(changed.public_id)}`, {
            method: 'PATCH',
            body: differences(fields, fieldsOf(changed)),
          });
    if (answer !== undefined) saved(answer.data);
  };
  const before = changed === undefined ? undefined : fieldsOf(changed);
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
              {(workspaces.answer?.data ?? []).map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          Name
          <input name="name" required maxLength={64} defaultValue={before?.name ?? ''} autocomplete="off" />
        </label>
        <label>
          Requests per minute
          <input name="rpm" type="number" min={1} defaultValue={before?.rpm ?? ''} placeholder="no limit" />
        </label>
        <label>
          Spend limit in USD
          <input
            name="spend_limit_usd"
            inputMode="decimal"
            pattern="\d+(\.\d+)?"
            title="An amount such as 5 or 12.50"
            defaultValue={before?.spend_limit_usd ?? ''}
            placeholder="no limit"
          />
        </label>
        <ResetChoice initial={before?.spend_limit_reset ?? null} />
        <label>
          Expires
          <input name="expires_at" type="datetime-local" defaultValue={localForm(before?.expires_at ?? null)} />
        </label>
        <label>
          Models
          <input
            name="models"
            defaultValue={before === undefined || before.models === 'all' ? '' : before.models.join(', ')}
            placeholder="all of the workspace"
            spellcheck={false}
            aria-describedby="models-help"
          />
        </label>
        <p id="models-help" class="muted">
          Catalogue ids with commas between them.
        </p>
        {failure && <Failure failure={failure} />}
        <p class="actions">
          <button type="submit" class="main" disabled={isChanging}>
            {changed === undefined ? 'Make the key' : 'Save'}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
};

const ResetChoice = ({ initial }: { readonly initial: string | null }) => {
  const [value, setValue] = useState(initial ?? '');
  return (
    <label>
      Spending starts again
      <select name="spend_limit_reset" value={value} onChange={({ currentTarget }) => setValue(currentTarget.value)}>
        <option value="">never</option>
        {['daily', 'weekly', 'monthly'].map((reset) => (
          <option key={reset}>{reset}</option>
        ))}
      </select>
    </label>
  );
};

/** In the words of the interface. */
interface Fields {
  readonly workspace?: string;
  readonly name: string;
  readonly rpm: number | null;
  readonly spend_limit_usd: string | null;
  readonly spend_limit_reset: string | null;
  readonly expires_at: string | null;
  readonly models: readonly string[] | 'all';
}

function readFields(form: HTMLFormElement): Fields {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '').trim();
  const expires = text('expires_at');
  const models = text('models')
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  return {
    ...(data.has('workspace') ? { workspace: text('workspace') } : {}),
    name: text('name'),
    rpm: text('rpm') === '' ? null : Number(text('rpm')),
    spend_limit_usd: text('spend_limit_usd') || null,
    spend_limit_reset: text('spend_limit_reset') || null,
    // The field has minutes only, in the time zone of the reader.
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
    models: models.length === 0 ? 'all' : models,
  };
}

const fieldsOf = ({ name, rpm, spend_limit_usd, spend_limit_reset, expires_at, models }: Key): Fields => ({
  name,
  rpm,
  spend_limit_usd,
  spend_limit_reset,
  expires_at,
  models: models ?? 'all',
});

/** What the form leaves as it was is not sent: another operator may have changed it meanwhile. */
function differences(fields: Fields, before: Fields): object {
  const isSame = (name: keyof Fields) =>
    name === 'expires_at'
      ? localForm(fields.expires_at) === localForm(before.expires_at)
      : JSON.stringify(fields[name]) === JSON.stringify(before[name]);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isSame(name as keyof Fields)));
}

const withoutNull = (fields: Fields): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== 'all'));

/** As the field writes an instant: `2026-11-22T20:15`, in the time zone of the reader. */
const localForm = (instant: string | null): string =>
  instant === null ? '' : new Date(instant).toLocaleString('sv').replace(' ', 'T').slice(0, 16);
