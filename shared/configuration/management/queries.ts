// Defines the query parameters of the management interface, with their descriptions.
import * as z from 'zod/mini';
import { interfaceIds } from '../../foundation/constants/index.ts';
import { dayMs, readDuration } from '../../foundation/time/index.ts';
import { readTags, tagNameShape } from '../../protocol/wire/index.ts';
import { inLowerCase } from '../access/index.ts';
import { id, matching } from '../value-forms/index.ts';

const limitMax = 200;
const limitDefault = 50;
const cursorMaxCharacters = 512;

const limit = z
  .prefault(
    z.pipe(
      matching(/^\d{1,3}$/, `a whole number from 1 to ${limitMax}`),
      z.pipe(z.transform(Number), z.number().check(z.minimum(1), z.maximum(limitMax))),
    ),
    String(limitDefault),
  )
  .check(
    // The description says number, which every reader of a description accepts in a query.
    z.meta({
      description: 'Items of a page.',
      ...{ type: 'integer', minimum: 1, maximum: limitMax, pattern: undefined },
    }),
  );
const cursor = z
  .optional(matching(/^[A-Za-z0-9_-]+$/, 'a next_cursor of the page before').check(z.maxLength(cursorMaxCharacters)))
  .check(z.describe('The `next_cursor` of the page before.'));

/** Lifetime of call records, in days. */
const sinceDaysMax = 90;
const lengthOf = (text: string): number => readDuration(text, ['s', 'm', 'h', 'd']) ?? 0;

/** Duration before now, in milliseconds. */
const since = z
  .pipe(
    z.prefault(
      matching(/^\d{1,5}[smhd]$/, 'a length of time such as 90s, 15m, 24h or 7d').check(
        z.refine((text) => lengthOf(text) > 0 && lengthOf(text) <= sinceDaysMax * dayMs, {
          error: `must be more than nothing and at most ${sinceDaysMax}d`,
        }),
      ),
      '24h',
    ),
    z.transform(lengthOf),
  )
  .check(z.describe('A length of time before now, such as `90s`, `15m`, `24h` (the default) or `7d`; at most `90d`.'));

const anyText = z.string().check(z.minLength(1), z.maxLength(160));
const textQuery = (description: string) => z.optional(anyText).check(z.describe(description));
const workspace = z.optional(id).check(z.describe('Those of this workspace only.'));

const search = textQuery('Those with this text in a name or id, of themselves or of what they belong to, in any case.');
const page = { search, limit, cursor };
export const pageQuery = z.strictObject(page);
export const modelsQuery = z.strictObject({
  ...page,
  order: z
    .optional(z.literal('use', { error: 'must be use, or be left out' }))
    .check(z.describe('`use`: models that were called lately first, those that no provider can serve last.')),
});
export const pageOfWorkspaceQuery = z.strictObject({ workspace, ...page });

export const keysQuery = z.strictObject({
  workspace,
  owner: z
    .optional(
      z.pipe(
        matching(/^\S{1,320}$/, 'an e-mail address'),
        // Owners are stored in lower case. A person without an e-mail is stored by the identity provider's subject.
        z.transform((text: string) => (text.startsWith('subject:') ? text : inLowerCase(text))),
      ),
    )
    .check(z.describe('Those that this person made for themselves.')),
  usable: z
    .optional(z.literal('true', { error: 'must be true, or be left out' }))
    .check(z.describe('`true`: those that are neither revoked nor expired.')),
  ...page,
});

export const overviewQuery = z.strictObject({
  since,
  tag: z
    .optional(matching(tagNameShape, 'the name of a tag'))
    .check(z.describe('The name of a tag, by whose values calls are grouped too.')),
});

const tags = z
  .string()
  .check(z.refine((text) => readTags(text) !== undefined, { error: 'must be a tag such as team=search' }));

export const callsQuery = z.strictObject({
  since,
  workspace,
  key: textQuery('Name or public id of the key.'),
  model: textQuery('Asked for, or answered.'),
  provider: textQuery('That of any attempt.'),
  tag: z
    .optional(
      z.pipe(
        tags,
        z.transform((text: string) => readTags(text)),
      ),
    )
    .check(z.describe('Calls with this tag, as in `team=search`; of several, with commas between them, all.')),
  outcome: z
    .optional(z.enum(['failed', 'refused'], { error: 'must be failed or refused, or be left out' }))
    .check(z.describe('`failed`: by the gateway or its providers. `refused`: to their clients.')),
  code: textQuery('Of the error that the client got.'),
  interface: z
    .optional(z.enum(interfaceIds, { error: `must be ${interfaceIds.join(', ')}` }))
    .check(z.describe('Through which the call came.')),
  session: z
    .optional(z.string().check(z.minLength(1), z.maxLength(256)))
    .check(z.describe('The `x-session-id` of the call.')),
  search,
  before: cursor,
  limit,
});

export const dryRunQuery = z.strictObject({
  dry_run: z
    .optional(z.enum(['true', 'false'], { error: 'must be true or false, or be left out' }))
    .check(z.describe('`true`: nothing is written, the answer says what would change.')),
});
