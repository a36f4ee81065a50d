// Defines the schemas of values that operators write, in a gateway file or in a change over HTTP. Each message names
// the valid form; the value itself is never repeated.
import * as z from 'zod/mini';
import { contentKeeps, idPattern, spendLimitResets } from '../../foundation/constants/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { dayMs, readDuration } from '../../foundation/time/index.ts';
import { listOf, tagNameShape, tagsMax, tagValueShape } from '../../protocol/wire/index.ts';

export const matching = (shape: RegExp, description: string) =>
  z.string({ error: `must be ${description}` }).check(z.regex(shape, { error: `must be ${description}` }));

export const text = (lengthMax: number) =>
  z
    .string()
    .check(
      z.minLength(1, { error: 'must not be empty' }),
      z.maxLength(lengthMax, { error: `must not be longer than ${lengthMax} characters` }),
    );

export const id = matching(idPattern, '1 to 64 letters, digits, - or _');

export const positiveInteger = z.int().check(z.minimum(1, { error: 'must be at least 1' }));
export const limit = z.nullable(z.int().check(z.minimum(1, { error: 'must be at least 1; null means no limit' })));

const isUsd = (written: string): boolean => parseUsd(written) !== undefined;
/** Exact decimal text, because YAML reads 2.50 as a binary fraction, and money must stay exact. */
export const exactDecimal = z.string({
  error: ({ input }) => (typeof input === 'number' ? 'must be written in quotes, such as "2.50"' : undefined),
});
export const usd = exactDecimal.check(z.refine(isUsd, { error: 'must be an amount of USD such as "25.00"' }));
/** Amount above zero. A file may have 0, which allows no spending, but in a single change 0 counts as a mistake. */
export const usdAboveZero = exactDecimal.check(
  z.refine((written) => isUsd(written) && parseUsd(written) !== 0n, {
    error: 'must be an amount of USD above 0 such as "25.00"',
  }),
);
/** Amount, below 0 for a removal. */
export const usdChange = exactDecimal.check(
  z.refine((written) => isUsd(written.replace(/^-/, '')) && parseUsd(written.replace(/^-/, '')) !== 0n, {
    error: 'must be an amount of USD that is not 0, such as "25.00" or "-5"',
  }),
);

export const reset = z.enum(spendLimitResets);

/** An ISO instant. A date alone means the beginning of the day, UTC. */
export const instant = z.pipe(
  z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'must be a date that exists, such as 2027-01-01 or 2027-01-01T00:00:00Z',
  }),
  z.transform((written: string) => new Date(written).toISOString()),
);

/** The bodies of calls that are stored, and for how long. */
export const contentLog = z.strictObject({
  keep: z.enum(contentKeeps, { error: `must be one of ${contentKeeps.join(', ')}` }),
  share: z
    .number({ error: 'must be a number from 0 to 1' })
    .check(z.minimum(0, { error: 'must be at least 0' }), z.maximum(1, { error: 'must be at most 1' })),
});

const durationMaxDays = 366;
/** A duration, which is parsed to milliseconds. */
export const duration = z.pipe(
  matching(/^\d{1,6}[smhdw]$/, 'a length of time such as 15m, 24h or 7d').check(
    z.refine((written) => lengthOf(written) <= durationMaxDays * dayMs, {
      error: `must be at most ${durationMaxDays}d`,
    }),
  ),
  z.transform((written: string) => lengthOf(written)),
);
const lengthOf = (written: string): number => readDuration(written, ['s', 'm', 'h', 'd', 'w']) ?? 0;

export const validity = matching(/^[1-9]\d{0,4}[hdw]$/, 'a length of time such as 12h, 30d or 8w');

/** Value `all`, or a list of model ids. */
export const modelChoice: z.ZodMiniType<'all' | readonly string[]> = z.union([z.literal('all'), listOf(text(128))], {
  error: 'must be all or a list of model ids',
});

/** Maximum number of guardrails, because a call is checked by each of them. */
const guardrailsMax = 16;
const guardrailList = listOf(id)
  .check(z.maxLength(guardrailsMax, { error: `must hold at most ${guardrailsMax} ids` }))
  .check(z.refine((ids) => new Set(ids).size === ids.length, { error: 'must name each id once' }));
export const guardrailIds: z.ZodMiniType<readonly string[]> = guardrailList;

const tagName = '1 to 32 lower-case letters, digits, _, . or -, and begin with a letter';
export const tags = z
  .record(z.string(), matching(tagValueShape, '1 to 64 visible ASCII characters without , and ='))
  .check(
    ({ value, issues }) => {
      for (const name of Object.keys(value).filter((name) => !tagNameShape.test(name))) {
        const message = `is no name of a tag: it must be ${tagName}`;
        issues.push({ code: 'custom', path: [name], message, input: value });
      }
      if (Object.keys(value).length <= tagsMax) return;
      issues.push({ code: 'custom', message: `must hold at most ${tagsMax} tags`, input: value });
    },
    z.meta({ propertyNames: { pattern: tagNameShape.source }, maxProperties: tagsMax }),
  );

/** Regions; an empty list is refused, because it would satisfy every policy. */
export const regions = listOf(
  matching(/^[a-z][a-z0-9-]{1,31}$/, 'a region or country code in lower case, such as eu'),
).check(z.minLength(1, { error: 'must name a region, or be left out' }));

/** Requires at least one field of a change. */
export const notEmpty = z.refine((value) => Object.keys(value as object).length > 0, {
  error: 'must change something',
});
