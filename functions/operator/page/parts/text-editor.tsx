// Shows a text with the numbers of its lines. The line of a fault is selected, and scrolled to.
import { useEffect, useId, useRef } from 'preact/hooks';

interface TextEditorProperties {
  readonly title: string;
  readonly rows: number;
  readonly name?: string;
  /** Text that the view controls. */
  readonly value?: string;
  readonly initial?: string;
  readonly change?: (text: string) => void;
  /** The message of a fault, as the gateway gives it: `… (line 3)`. */
  readonly fault?: string | undefined;
}

/** Number of lines above a selected line that stay in view. */
const linesAbove = 3;

export const TextEditor = ({ title, rows, name, value, initial, change, fault }: TextEditorProperties) => {
  const text = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLPreElement>(null);
  const id = useId();
  const faultLine = lineIn(fault);
  const number = () => {
    if (text.current === null || numbers.current === null) return;
    const lines = text.current.value.split('\n').length;
    numbers.current.textContent = Array.from({ length: lines }, (_line, at) => at + 1).join('\n');
    numbers.current.scrollTop = text.current.scrollTop;
  };
  useEffect(number);
  useEffect(() => {
    if (faultLine === undefined || text.current === null) return;
    selectLine(text.current, faultLine);
    // The line numbers are scrolled at once, because the event of the scrolled text comes a frame later.
    number();
  }, [fault, faultLine]);
  return (
    <div class="wide editor-field">
      <label for={id}>{title}</label>
      <div class="editor">
        <pre ref={numbers} class="line-numbers" aria-hidden="true" />
        <textarea
          ref={text}
          id={id}
          class="code"
          name={name}
          rows={rows}
          spellcheck={false}
          autocapitalize="none"
          wrap="off"
          {...(value === undefined ? { defaultValue: initial } : { value })}
          onInput={({ currentTarget }) => {
            number();
            change?.(currentTarget.value);
          }}
          onScroll={number}
        />
      </div>
    </div>
  );
};

/** Returns the line number in a message, counted from 1. */
function lineIn(message: string | undefined): number | undefined {
  const [, line] = /\bline (\d+)\b/.exec(message ?? '') ?? [];
  return line === undefined ? undefined : Number(line);
}

function selectLine(text: HTMLTextAreaElement, line: number): void {
  const lines = text.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  text.focus({ preventScroll: true });
  text.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  const { lineHeight } = getComputedStyle(text);
  text.scrollTop = Math.max(0, line - 1 - linesAbove) * Number.parseFloat(lineHeight);
}
