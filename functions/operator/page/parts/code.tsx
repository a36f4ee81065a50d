import { useState } from 'preact/hooks';

interface CodeProperties {
  readonly title: string;
  readonly text: string;
}

/** A text of many lines under its title, to be opened and copied. */
export const Code = ({ title, text }: CodeProperties) => {
  const [copied, setCopied] = useState<string>();
  return (
    <details class="code">
      <summary>{title}</summary>
      <button
        type="button"
        aria-label={`Copy: ${title}`}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}
      >
        {copied === text ? 'Copied' : 'Copy'}
      </button>
      <pre>{text}</pre>
    </details>
  );
};
