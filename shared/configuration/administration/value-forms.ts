// The forms of values that changes take. Each message says what to write; the value itself is never repeated.
import * as z from 'zod/mini';
import { idPattern } from '../../foundation/constants/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { dayMs, readDuration } from '../../foundation/time/index.ts';

export const matching = (shape: RegExp, form: string) =>
  z.string({ error: `must be ${form}` }).check(z.regex(shape, { error: `must be ${form}` }));

export const id = matching(idPattern, '1 to 64 letters, digits, - or _');

const isUsd = (text: string): boolean => parseUsd(text) !== undefined;
/** A limit: exact, so a text. */
export const usd = z.string({ error: 'must be a text such as "25.00"' }).check(
  z.refine((text) => isUsd(text) && parseUsd(text) !== 0n, {
    error: 'must be an amount of USD above 0 such as "25.00"',
  }),
);
/** Below 0: takes away. */
export const usdChange = z.string({ error: 'must be a text such as "25.00" or "-5"' }).check(
  z.refine((text) => isUsd(text.replace(/^-/, '')) && parseUsd(text.replace(/^-/, '')) !== 0n, {
    error: 'must be an amount of USD that is not 0, such as "25.00" or "-5"',
  }),
);

export const instant = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'must be a date that exists, such as 2027-01-01 or 2027-01-01T00:00:00Z',
});

const durationMaxDays = 366;
/** As milliseconds. */
export const duration = z.pipe(
  matching(/^\d{1,6}[smhdw]$/, 'a length of time such as 15m, 24h or 7d').check(
    z.refine((text) => lengthOf(text) <= durationMaxDays * dayMs, { error: `must be at most ${durationMaxDays}d` }),
  ),
  z.transform((text: string) => lengthOf(text)),
);
const lengthOf = (text: string): number => readDuration(text, ['s', 'm', 'h', 'd', 'w']) ?? 0;

/** What stands in a list of a body. */
export const notEmpty = z.refine((value) => Object.keys(value as object).length > 0, {
  error: 'must change something',
});
