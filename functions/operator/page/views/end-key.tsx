// A key ends: at once, or after another one has taken its place.
import type { Key, NewKey, Single } from '../connection/documents.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FormEnd } from '../parts/form-end.tsx';
import { Failure } from '../parts/states.tsx';
import { useChange } from '../parts/use-change.ts';

interface EndKeyProperties {
  readonly apiKey: Key;
  readonly close: () => void;
}

const graces = { '0s': 'at once', '1h': 'after an hour', '24h': 'after a day', '7d': 'after a week' };

export const RotateKey = ({ apiKey, close, done }: EndKeyProperties & { readonly done: (made: NewKey) => void }) => {
  const { isChanging, failure, run } = useChange();
  const rotate = async (form: HTMLFormElement) => {
    const body = { grace: String(new FormData(form).get('grace')) };
    const path = `keys/${encodeURIComponent(apiKey.public_id)}/rotate`;
    const answer = await run<Single<NewKey>>(path, { method: 'POST', body });
    if (answer !== undefined) done(answer.data);
  };
  return (
    <Dialog title={`Rotate key ${apiKey.name}?`} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void rotate(event.currentTarget);
        }}
      >
        <p>A new key of this name and with these limits is made and shown once. Both work until the former one ends.</p>
        <label>
          The former key ends
          <select name="grace" defaultValue="24h">
            {Object.entries(graces).map(([grace, text]) => (
              <option key={grace} value={grace} selected={grace === '24h'}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <FormEnd failure={failure} isChanging={isChanging} send="Rotate" leave="Keep it" close={close} />
      </form>
    </Dialog>
  );
};

export const RevokeKey = ({ apiKey, close, done }: EndKeyProperties & { readonly done: () => void }) => {
  const { isChanging, failure, run } = useChange();
  const revoke = async () => {
    const path = `keys/${encodeURIComponent(apiKey.public_id)}`;
    if ((await run<Single<Key>>(path, { method: 'PATCH', body: { status: 'revoked' } })) !== undefined) done();
  };
  return (
    <Dialog title={`Revoke key ${apiKey.name}?`} onClose={close}>
      <p>
        Clients with key {apiKey.name} of {apiKey.workspace} are refused from their next request on.
      </p>
      {failure && <Failure failure={failure} />}
      <p class="actions">
        <button type="button" class="danger" disabled={isChanging} onClick={() => void revoke()}>
          Revoke
        </button>
        <button type="button" onClick={close}>
          Keep it
        </button>
      </p>
    </Dialog>
  );
};
