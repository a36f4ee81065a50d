import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './states.tsx';
import { useRequests } from './use-requests.ts';

interface ConfirmDialogProperties {
  readonly title: string;
  /** Text of the button that confirms. */
  readonly act: string;
  readonly send: () => Promise<unknown>;
  readonly close: () => void;
  readonly done: () => void;
  /** Consequences of the step. */
  readonly children: ComponentChildren;
}

/** Shows a dialog before a step that removes something. */
export const ConfirmDialog = ({ title, act, send, close, done, children }: ConfirmDialogProperties) => {
  const { isRunning, failure, run } = useRequests();
  const confirm = async () => {
    if ((await run(send)) !== undefined) done();
  };
  return (
    <Dialog title={title} onClose={close}>
      {children}
      <Failure failure={failure} />
      <p class="actions">
        <Button text={act} kind="danger" disabled={isRunning} onClick={confirm} />
        <Button text="Keep it" onClick={close} />
      </p>
    </Dialog>
  );
};
