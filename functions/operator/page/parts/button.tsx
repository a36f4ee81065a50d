import { useState } from 'preact/hooks';

interface ButtonProperties {
  readonly text: string;
  readonly onClick: () => unknown;
  readonly kind?: 'main' | 'danger' | 'plain' | undefined;
  readonly disabled?: boolean;
  /** Text for a screen reader in place of the visible text. */
  readonly label?: string;
  /** State of a toggle button. */
  readonly isPressed?: boolean;
}

export const Button = ({ text, onClick, kind, disabled = false, label, isPressed }: ButtonProperties) => (
  <button
    type="button"
    class={kind ?? ''}
    disabled={disabled}
    aria-label={label}
    aria-pressed={isPressed}
    onClick={() => void onClick()}
  >
    {text}
  </button>
);

type CopyButtonProperties = Pick<ButtonProperties, 'text' | 'kind' | 'label'>;

/** Shows a button that copies the text. */
export const CopyButton = ({ text, ...button }: CopyButtonProperties) => {
  const [copied, setCopied] = useState<string>();
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied(undefined),
    );
  return <Button {...button} text={copied === text ? 'Copied' : 'Copy'} onClick={copy} />;
};
