// Images, characters, seconds and search units of a call, as its record has them. Most calls have none.
import { type CountedUnits, countedUnits } from '../../foundation/constants/index.ts';
import type { StoredKind } from './stored-kinds.ts';

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** As JSON. */
export const callUnits: StoredKind<CountedUnits, CountedUnits> = {
  toScalar(value) {
    const units = (value ?? {}) as CountedUnits;
    const known = countedUnits.filter((name) => isAmount(units[name]));
    return known.length === 0
      ? undefined
      : JSON.stringify(Object.fromEntries(known.map((name) => [name, units[name]])));
  },
  fromScalar: (stored) => JSON.parse(stored as string) as CountedUnits,
  toJson: (units) => units,
  schema: {
    type: 'object',
    properties: Object.fromEntries(countedUnits.map((name) => [name, { type: 'number', minimum: 0 }])),
  },
};
