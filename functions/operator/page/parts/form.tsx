// Reads the values of the fields of a form, and closes the dialog that contains it.
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './states.tsx';
import type { Requests } from './use-requests.ts';

interface FormProperties {
  readonly class?: string;
  readonly submit: (form: HTMLFormElement) => unknown;
  readonly children: ComponentChildren;
}

export const Form = ({ submit, children, ...attributes }: FormProperties) => (
  <form
    {...attributes}
    onSubmit={(event) => {
      event.preventDefault();
      void submit(event.currentTarget);
    }}
  >
    {children}
  </form>
);

interface FormDialogProperties extends FormProperties {
  readonly title: string;
  readonly close: () => void;
  readonly requests: Requests;
  /** Text of the button that sends the form. */
  readonly send: string;
  /** Text of the button that closes the dialog. */
  readonly leave?: string;
}

export const FormDialog = (properties: FormDialogProperties) => {
  const { title, close, requests, send, leave = 'Cancel', submit, children } = properties;
  return (
    <Dialog title={title} onClose={close}>
      <Form submit={submit}>
        {children}
        <Failure failure={requests.failure} />
        <p class="actions">
          <button type="submit" class="main" disabled={requests.isRunning}>
            {send}
          </button>
          <Button text={leave} onClick={close} />
        </p>
      </Form>
    </Dialog>
  );
};

export function formValues(form: HTMLFormElement) {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '').trim();
  return {
    has: (name: string) => data.has(name),
    text,
    /** Returns null if the field is empty. */
    number: (name: string) => (text(name) === '' ? null : Number(text(name))),
    /** Returns the parts between commas. */
    list: (name: string) =>
      text(name)
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
  };
}
