import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProperties {
  readonly title: string;
  readonly onClose: () => void;
  /** For tables of several columns, which are read from their top. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** The browser keeps the focus inside while it is open, and gives it back. Escape closes it. */
export const Dialog = ({ title, onClose, isWide = false, children }: DialogProperties) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before it is painted, so that no key is pressed behind it.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : ''}
      aria-labelledby="dialog-title"
      // The event comes later: one that is gone by then was closed by what took its place.
      onClose={() => dialog.current !== null && onClose()}
    >
      <h2 id="dialog-title" {...(isWide ? { tabIndex: -1, autofocus: true } : {})}>
        {title}
      </h2>
      {children}
    </dialog>
  );
};
