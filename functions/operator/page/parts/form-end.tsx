// What ends a form in a dialog: why it failed, the button that sends it, and the one that closes it.
import type { RequestFailed } from '../connection/management.ts';
import { Failure } from './states.tsx';

interface FormEndProperties {
  readonly failure: RequestFailed | undefined;
  readonly isChanging: boolean;
  /** The text of the button that sends the form. */
  readonly send: string;
  /** The text of the button that closes the dialog. */
  readonly leave?: string;
  readonly close: () => void;
}

export const FormEnd = ({ failure, isChanging, send, leave = 'Cancel', close }: FormEndProperties) => (
  <>
    {failure && <Failure failure={failure} />}
    <p class="actions">
      <button type="submit" class="main" disabled={isChanging}>
        {send}
      </button>
      <button type="button" onClick={close}>
        {leave}
      </button>
    </p>
  </>
);
