import { type Address, goTo } from '../connection/address.ts';

interface TextFilterProperties {
  readonly address: Address;
  /** Of its parameter in the address. */
  readonly name: string;
  readonly title: string;
  /** What an empty field stands for. */
  readonly placeholder?: string;
}

/** A filter that is typed; the other parameters of the address stay. */
export const TextFilter = ({ address, name, title, placeholder = 'any' }: TextFilterProperties) => (
  <label>
    {title}
    <input
      value={address.parameters.get(name) ?? ''}
      placeholder={placeholder}
      spellcheck={false}
      autocapitalize="none"
      onChange={({ currentTarget }) =>
        goTo(address.view, { ...Object.fromEntries(address.parameters), [name]: currentTarget.value.trim() })
      }
    />
  </label>
);
