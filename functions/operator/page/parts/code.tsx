import { CopyButton } from './button.tsx';

/** A text of many lines under its title, to be opened and copied. */
export const Code = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <details class="code">
    <summary>{title}</summary>
    <CopyButton text={text} label={`Copy: ${title}`} />
    <pre>{text}</pre>
  </details>
);
