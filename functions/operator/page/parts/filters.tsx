// Shows the filters of a view. Each filter changes one parameter of the address, and the other parameters stay.
import { useEffect, useRef, useState } from 'preact/hooks';
import { goTo, sinceChoices, sinceOf, type ViewAddress } from '../connection/address.ts';
import { Choice, Field } from './field.tsx';

export const changeAddress = (
  { view, parameters }: ViewAddress,
  name: string,
  value: string,
  how?: { readonly replaces: boolean },
): void => goTo(view, { ...Object.fromEntries(parameters), [name]: value }, how);

interface FilterProperties {
  readonly address: ViewAddress;
  /** Name of its parameter in the address. */
  readonly name: string;
  readonly title: string;
}

interface TextFilterProperties extends FilterProperties {
  /** The meaning of an empty field. */
  readonly placeholder?: string | undefined;
  /** Values to choose from; others may be typed. */
  readonly options?: readonly string[];
}

export const TextFilter = ({ address, name, title, placeholder = 'any', options = [] }: TextFilterProperties) => {
  const listId = `choices-of-${name}`;
  return (
    <Field title={title}>
      <input
        list={options.length === 0 ? undefined : listId}
        value={address.parameters.get(name) ?? ''}
        placeholder={placeholder}
        spellcheck={false}
        autocapitalize="none"
        onChange={({ currentTarget }) => changeAddress(address, name, currentTarget.value.trim())}
      />
      {options.length > 0 && (
        <datalist id={listId}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </Field>
  );
};

/** Pause in typing, in milliseconds, after which a list is read again. */
const typingPauseMs = 200;

/** Shows a field that searches the names and ids of a list while the person types. */
export const Search = ({ address }: Pick<FilterProperties, 'address'>) => {
  const storedSearch = searchOf(address) ?? '';
  const [text, setText] = useState(storedSearch);
  const applied = useRef(storedSearch);
  const [latest, timer] = [useRef(address), useRef<ReturnType<typeof setTimeout>>(undefined)];
  latest.current = address;
  useEffect(() => () => clearTimeout(timer.current), [timer]);
  // Another link of the page may have changed the text.
  if (storedSearch !== applied.current) {
    applied.current = storedSearch;
    clearTimeout(timer.current);
    setText(storedSearch);
  }
  const apply = (value: string) => {
    clearTimeout(timer.current);
    applied.current = value.trim();
    changeAddress(latest.current, 'search', applied.current, { replaces: true });
  };
  return (
    <Field title="Search">
      <input
        type="search"
        value={text}
        placeholder="name or id"
        spellcheck={false}
        autocapitalize="none"
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(apply, typingPauseMs, value);
        }}
        onChange={({ currentTarget }) => apply(currentTarget.value)}
      />
    </Field>
  );
};

export const searchOf = ({ parameters }: ViewAddress): string | undefined => parameters.get('search') ?? undefined;

type ChoiceFilterProperties = FilterProperties & Pick<Parameters<typeof Choice>[0], 'options' | 'value'>;

export const ChoiceFilter = ({ address, name, value, ...choice }: ChoiceFilterProperties) => (
  <Choice
    {...choice}
    value={value ?? address.parameters.get(name) ?? ''}
    choose={(chosen) => changeAddress(address, name, chosen)}
  />
);

/** Shows the filter for the time range of a view. */
export const TimeRange = ({ address }: { readonly address: ViewAddress }) => {
  const since = sinceOf(address);
  const choices = { ...(since in sinceChoices ? {} : { [since]: `last ${since}` }), ...sinceChoices };
  return <ChoiceFilter address={address} name="since" title="Time" value={since} options={Object.entries(choices)} />;
};
