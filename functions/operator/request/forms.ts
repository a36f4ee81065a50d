// The forms of values that several requests take. Each message says what to write; the value itself is never repeated.
import * as z from 'zod/mini';
import { matching } from '../../../shared/configuration/value-forms/index.ts';
import { dayMs, readDuration } from '../../../shared/foundation/time/index.ts';

export const anyText = z.string().check(z.minLength(1), z.maxLength(160));

/** As long as call records are kept. */
export const sinceDaysMax = 90;

const lengthOf = (text: string): number => readDuration(text, ['s', 'm', 'h', 'd']) ?? 0;

/** A length of time before now, as milliseconds. */
export const sinceParameter = z._default(
  z.pipe(
    matching(/^\d{1,5}[smhd]$/, 'a length of time such as 90s, 15m, 24h or 7d').check(
      z.refine((text) => lengthOf(text) > 0 && lengthOf(text) <= sinceDaysMax * dayMs, {
        error: `must be more than nothing and at most ${sinceDaysMax}d`,
      }),
    ),
    z.transform(lengthOf),
  ),
  dayMs,
);
