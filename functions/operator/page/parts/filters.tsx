// Filters of a view: each changes one parameter of the address, and the others stay.
import { goTo, sinceChoices, sinceOf, type ViewAddress } from '../connection/address.ts';
import { Choice, Field } from './field.tsx';

export const changeAddress = ({ view, parameters }: ViewAddress, name: string, value: string): void =>
  goTo(view, { ...Object.fromEntries(parameters), [name]: value });

interface FilterProperties {
  readonly address: ViewAddress;
  /** Name of its parameter in the address. */
  readonly name: string;
  readonly title: string;
}

/** A typed filter. `placeholder`: the meaning of an empty field. */
export const TextFilter = (properties: FilterProperties & { readonly placeholder?: string }) => {
  const { address, name, title, placeholder = 'any' } = properties;
  return (
    <Field title={title}>
      <input
        value={address.parameters.get(name) ?? ''}
        placeholder={placeholder}
        spellcheck={false}
        autocapitalize="none"
        onChange={({ currentTarget }) => changeAddress(address, name, currentTarget.value.trim())}
      />
    </Field>
  );
};

/** Searches the names and ids of a list. */
export const Search = ({ address }: Pick<FilterProperties, 'address'>) => (
  <TextFilter address={address} name="search" title="Search" placeholder="a name or id" />
);

export const searchOf = ({ parameters }: ViewAddress): string | undefined => parameters.get('search') ?? undefined;

type ChoiceFilterProperties = FilterProperties & Pick<Parameters<typeof Choice>[0], 'options' | 'value'>;

export const ChoiceFilter = ({ address, name, value, ...choice }: ChoiceFilterProperties) => (
  <Choice
    {...choice}
    value={value ?? address.parameters.get(name) ?? ''}
    choose={(chosen) => changeAddress(address, name, chosen)}
  />
);

/** The time that a view is about. */
export const TimeRange = ({ address }: { readonly address: ViewAddress }) => {
  const since = sinceOf(address);
  const choices = { ...(since in sinceChoices ? {} : { [since]: `last ${since}` }), ...sinceChoices };
  return <ChoiceFilter address={address} name="since" title="Time" value={since} options={Object.entries(choices)} />;
};
