// Shows the fields of forms and filters. Each field is a control under its title.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

interface FieldProperties {
  readonly title: string;
  /** True if the field takes a whole line. */
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
  /** Valid pattern of the value, and its description. */
  readonly pattern?: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly type?: 'number' | 'datetime-local';
  readonly min?: number;
  readonly max?: number;
  readonly maxLength?: number;
  readonly inputMode?: 'decimal';
  readonly autocomplete?: 'off';
  readonly 'aria-describedby'?: string;
  readonly change?: () => void;
}

export const TextField = ({ title, initial, hint, change, ...input }: TextFieldProperties) => (
  <Field title={title}>
    <input
      spellcheck={false}
      autocapitalize="none"
      title={hint}
      defaultValue={initial ?? ''}
      onInput={change}
      {...input}
    />
  </Field>
);

/** Shows a field for a whole number from 1, which may be empty. */
export const CountField = (field: TextFieldProperties) => <TextField type="number" min={1} {...field} />;

/** Shows a field for an amount. The value is a text, because amounts are exact. */
export const AmountField = (field: TextFieldProperties) => (
  <TextField inputMode="decimal" pattern="\d+(\.\d+)?" hint="An amount such as 5 or 12.50" {...field} />
);

interface ListFieldProperties extends TextFieldProperties {
  /** Options to choose from; other parts may be typed. */
  readonly options: readonly string[];
}

/** Shows a field for parts with commas between them, typed or chosen one after the other. */
export const ListField = ({ options, ...field }: ListFieldProperties) => {
  const place = useRef<HTMLDivElement>(null);
  const add = (option: string) => {
    const input = place.current?.querySelector('input');
    if (!input || option === '') return;
    const parts = input.value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    if (!parts.includes(option)) input.value = [...parts, option].join(', ');
    // The name of a tag needs its value.
    if (option.endsWith('=')) input.focus();
  };
  return (
    <div ref={place} class="list-field">
      <TextField {...field} />
      {options.length > 0 && (
        <select
          aria-label={`Add to ${field.title}`}
          onChange={({ currentTarget }) => {
            add(currentTarget.value);
            currentTarget.value = '';
          }}
        >
          <option value="">Add …</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      )}
    </div>
  );
};

interface CheckFieldProperties {
  readonly title: string;
  readonly name?: string;
  readonly defaultChecked?: boolean;
  /** Set if each change takes effect at once. */
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
  /** Values that are sent, with a label for each value that is shown as another text. */
  readonly options: readonly (string | readonly [value: string, text: string])[];
  /** Name in a form. */
  readonly name?: string;
  readonly initial?: string | undefined;
  readonly required?: boolean;
  /** Set if each choice takes effect at once. */
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
          const [value, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
    </Field>
  );
};
