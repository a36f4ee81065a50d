// A key ends: at once, or after another one has taken its place.
import type { Key, NewKey } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Choice } from '../parts/field.tsx';
import { FormDialog, formValues } from '../parts/form.tsx';
import { LatelyUsed } from '../parts/lately-used.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { keyTitle } from './key-columns.tsx';

interface EndKeyProperties {
  readonly apiKey: Key;
  readonly close: () => void;
}

const graces = { '0s': 'at once', '1h': 'after an hour', '24h': 'after a day', '7d': 'after a week' };

export const RotateKey = ({ apiKey, close, done }: EndKeyProperties & { readonly done: (newKey: NewKey) => void }) => {
  const requests = useRequests();
  const rotate = async (form: HTMLFormElement) => {
    const body = { grace: formValues(form).text('grace') };
    const answer = await requests.run(() => manage('POST /keys/{public_id}/rotate', { names: apiKey, body }));
    if (answer !== undefined) done(answer.data);
  };
  return (
    <FormDialog
      title={`Rotate key ${keyTitle(apiKey)}?`}
      close={close}
      submit={rotate}
      requests={requests}
      send="Rotate"
      leave="Keep it"
    >
      <p>A new key of this name and with these limits is made and shown once. Both work until the former one ends.</p>
      <Choice title="The former key ends" name="grace" initial="24h" options={Object.entries(graces)} />
    </FormDialog>
  );
};

export const RevokeKey = ({ apiKey, close, done }: EndKeyProperties & { readonly done: () => void }) => (
  <ConfirmDialog
    title={`Revoke key ${keyTitle(apiKey)}?`}
    act="Revoke"
    send={() => manage('PATCH /keys/{public_id}', { names: apiKey, body: { status: 'revoked' } })}
    close={close}
    done={done}
  >
    <p>Clients with key {keyTitle(apiKey)} are refused from their next request on.</p>
    {apiKey.owner !== null && <p>It belongs to {apiKey.owner}.</p>}
    <LatelyUsed of={{ key: apiKey.public_id }} />
  </ConfirmDialog>
);
