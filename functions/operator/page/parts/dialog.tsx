import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProperties {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The browser keeps the focus inside while it is open, and gives it back. Escape closes it. */
export const Dialog = ({ title, onClose, children }: DialogProperties) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before it is painted, so that no key is pressed behind it.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
};
