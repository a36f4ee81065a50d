// Lists the units other than tokens in which a call is counted, with the field names of records and the words for
// people.
export const countedUnits = ['images', 'characters', 'seconds', 'search_units'] as const;

export type CountedUnits = { readonly [One in (typeof countedUnits)[number]]?: number };

/** Writes `1 image`, `2.5 seconds`. */
export const unitsText = (units: CountedUnits): string =>
  countedUnits
    .flatMap((name) => {
      const amount = units[name];
      const words = name.replace('_', ' ');
      if (amount === undefined) return [];
      return [`${amount.toLocaleString('en')} ${amount === 1 ? words.slice(0, -1) : words}`];
    })
    .join(', ');
