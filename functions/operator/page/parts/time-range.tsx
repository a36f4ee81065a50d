import { type Address, goTo, sinceChoices, sinceOf } from '../connection/address.ts';

/** Picks the time that a view is about; the other parameters of the address stay. */
export const TimeRange = ({ address }: { readonly address: Address }) => {
  const since = sinceOf(address);
  const choices = { ...(since in sinceChoices ? {} : { [since]: `last ${since}` }), ...sinceChoices };
  return (
    <label>
      Time
      <select
        value={since}
        onChange={({ currentTarget }) =>
          goTo(address.view, { ...Object.fromEntries(address.parameters), since: currentTarget.value })
        }
      >
        {Object.entries(choices).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
};
