// The fields of forms and filters: each a control under its title.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface FieldProperties {
  readonly title: string;
  /** Whether it takes a whole line. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

export const Field = ({ title, isWide = false, children }: FieldProperties) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is its child
  <label class={isWide ? 'wide' : ''}>
    {title}
    {children}
  </label>
);

interface TextFieldProperties {
  readonly title: string;
  readonly name: string;
  /** Null for an empty field. */
  readonly initial?: number | string | null | undefined;
  /** Valid form, and its description. */
  readonly pattern?: string;
  readonly form?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly type?: 'number' | 'datetime-local';
  readonly min?: number;
  readonly maxLength?: number;
  readonly inputMode?: 'decimal';
  readonly autocomplete?: 'off';
  readonly 'aria-describedby'?: string;
}

export const TextField = ({ title, initial, form, ...input }: TextFieldProperties) => (
  <Field title={title}>
    <input spellcheck={false} autocapitalize="none" title={form} defaultValue={initial ?? ''} {...input} />
  </Field>
);

/** A whole number from 1, or nothing. */
export const CountField = (field: TextFieldProperties) => <TextField type="number" min={1} {...field} />;

/** Exact, so a text. */
export const AmountField = (field: TextFieldProperties) => (
  <TextField inputMode="decimal" pattern="\d+(\.\d+)?" form="An amount such as 5 or 12.50" {...field} />
);

interface CheckFieldProperties {
  readonly title: string;
  readonly name?: string;
  readonly defaultChecked?: boolean;
  /** Where each change counts at once. */
  readonly checked?: boolean;
  readonly change?: (isChecked: boolean) => void;
}

export const CheckField = ({ title, change, ...input }: CheckFieldProperties) => (
  <label class="check">
    <input type="checkbox" {...input} onChange={({ currentTarget }) => change?.(currentTarget.checked)} />
    {title}
  </label>
);

interface ChoiceProperties {
  readonly title: string;
  /** Values that are sent, with their labels where these differ. */
  readonly options: readonly (string | readonly [value: string, text: string])[];
  /** Name in a form. */
  readonly name?: string;
  readonly initial?: string | undefined;
  readonly required?: boolean;
  /** Where each choice counts at once. */
  readonly value?: string;
  readonly choose?: (value: string) => void;
}

export const Choice = ({ title, options, name, initial, required, value, choose }: ChoiceProperties) => {
  const [chosen, setChosen] = useState(initial);
  return (
    <Field title={title}>
      <select
        name={name}
        required={required}
        value={value ?? chosen}
        onChange={({ currentTarget }) => (choose ?? setChosen)(currentTarget.value)}
      >
        {options.map((option) => {
          const [sent, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={sent} value={sent}>
              {text}
            </option>
          );
        })}
      </select>
    </Field>
  );
};
