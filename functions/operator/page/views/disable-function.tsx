import type { StoredFunction } from '../connection/documents.ts';
import { changeFunction } from '../connection/function-changes.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { LatelyUsed } from '../parts/lately-used.tsx';

interface DisableFunctionProperties {
  readonly target: Pick<StoredFunction, 'workspace' | 'id'>;
  readonly close: () => void;
  readonly done: () => void;
}

export const DisableFunction = ({ target, close, done }: DisableFunctionProperties) => (
  <ConfirmDialog
    title={`Disable function ${target.id} of ${target.workspace}?`}
    act="Disable"
    send={() => changeFunction(target, 'disable')}
    close={close}
    done={done}
  >
    <p>Every call of it is refused from now on.</p>
    <LatelyUsed filter={{ workspace: target.workspace, model: `gw/function/${target.id}` }} />
  </ConfirmDialog>
);
