import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProperties {
  readonly title: string;
  readonly onClose: () => void;
  /** True for tables of several columns, which are read from their top. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/**
 * Shows a modal dialog. The browser moves the focus into the dialog when it opens, and back when it closes. Escape
 * closes it.
 */
export const Dialog = ({ title, onClose, isWide = false, children }: DialogProperties) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // The dialog opens before painting, so that no key press reaches the page below it.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : ''}
      aria-labelledby="dialog-title"
      // The event comes later. If the dialog no longer exists then, its replacement has closed it.
      onClose={() => dialog.current !== null && onClose()}
    >
      <h2 id="dialog-title" {...(isWide ? { tabIndex: -1, autofocus: true } : {})}>
        {title}
      </h2>
      {children}
    </dialog>
  );
};
