// Shows the text of a new key until the person hides it. No other view shows the text.
import type { ComponentChildren } from 'preact';
import { Button, CopyButton } from './button.tsx';

interface SecretOnceProperties {
  readonly secret: string;
  readonly hide: () => void;
  /** Name of the key. */
  readonly children: ComponentChildren;
}

export const SecretOnce = ({ secret, hide, children }: SecretOnceProperties) => (
  <section class="made" aria-label="The new key">
    <p role="status">{children} Copy it now: it is stored as a hash only and cannot be shown again.</p>
    <code>{secret}</code>
    <p class="actions">
      <CopyButton text={secret} kind="main" />
      <Button text="Hide it" onClick={hide} />
    </p>
  </section>
);
