import type { StoredFunction } from '../connection/documents.ts';
import { changeFunction } from '../connection/function-changes.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { LatelyUsed } from '../parts/lately-used.tsx';

interface DisableFunctionProperties {
  readonly of: Pick<StoredFunction, 'workspace' | 'id'>;
  readonly close: () => void;
  readonly done: () => void;
}

export const DisableFunction = ({ of, close, done }: DisableFunctionProperties) => (
  <ConfirmDialog
    title={`Disable function ${of.id} of ${of.workspace}?`}
    act="Disable"
    send={() => changeFunction(of, 'disable')}
    close={close}
    done={done}
  >
    <p>Every call of it is refused from now on.</p>
    <LatelyUsed of={{ workspace: of.workspace, model: `gw/function/${of.id}` }} />
  </ConfirmDialog>
);
