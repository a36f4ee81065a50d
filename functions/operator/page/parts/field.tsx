import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface FieldProperties {
  readonly title: string;
  /** It takes a line of its own. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** A control under its title. */
export const Field = ({ title, isWide = false, children }: FieldProperties) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is its child
  <label class={isWide ? 'wide' : ''}>
    {title}
    {children}
  </label>
);

interface LimitFieldProperties {
  readonly title: string;
  readonly name: string;
  /** Null: there is none. */
  readonly initial: number | string | null | undefined;
  /** What an empty field means. */
  readonly placeholder: string;
}

/** A whole number from 1, or nothing. */
export const CountField = ({ title, name, initial, placeholder }: LimitFieldProperties) => (
  <Field title={title}>
    <input name={name} type="number" min={1} defaultValue={initial ?? ''} placeholder={placeholder} />
  </Field>
);

/** Exact, so a text. */
export const AmountField = ({ title, name, initial, placeholder }: LimitFieldProperties) => (
  <Field title={title}>
    <input
      name={name}
      inputMode="decimal"
      pattern="\d+(\.\d+)?"
      title="An amount such as 5 or 12.50"
      defaultValue={initial ?? ''}
      placeholder={placeholder}
    />
  </Field>
);

/** Of spending that counts against a limit. */
export const ResetChoice = ({ name, initial }: { readonly name: string; readonly initial: string | null }) => {
  const [value, setValue] = useState(initial ?? '');
  return (
    <label>
      Spending starts again
      <select name={name} value={value} onChange={({ currentTarget }) => setValue(currentTarget.value)}>
        <option value="">never</option>
        {['daily', 'weekly', 'monthly'].map((reset) => (
          <option key={reset}>{reset}</option>
        ))}
      </select>
    </label>
  );
};
