// The bodies of changes that come over HTTP, in the words of the gateway file. What the description of the interface says of them follows from here.
import * as z from 'zod/mini';
import { spendLimitResets } from '../../accounting/holds/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { listOf, tagNameShape, tagsMax, tagValueShape } from '../../protocol/wire/index.ts';
import { keyNameText } from '../keys/index.ts';
import { duration, id, instant, matching, notEmpty, usd, usdChange } from './value-forms.ts';

const modelsMax = 256;
const name = z
  .string()
  .check(z.minLength(1), z.maxLength(64), z.regex(keyNameText, { error: 'must hold no control characters' }));
const tags = z
  .record(
    matching(tagNameShape, 'the name of a tag: lower-case letters, digits, _, . or -, which begins with a letter'),
    matching(tagValueShape, '1 to 64 visible ASCII characters without , and ='),
  )
  .check(z.refine((written) => Object.keys(written).length <= tagsMax, { error: `must hold at most ${tagsMax} tags` }));

const modelChoice = z.union(
  [z.literal('all'), listOf(z.string().check(z.minLength(1), z.maxLength(128)), { itemsMax: modelsMax })],
  { error: 'must be "all" or a list of ids of models' },
);

/** What is left out stays, or has its default. */
const settings = {
  rpm: z.optional(z.nullable(z.int().check(z.minimum(1)))),
  concurrency: z.optional(z.nullable(z.int().check(z.minimum(1)))),
  spend_limit_usd: z.optional(z.nullable(usd)),
  spend_limit_reset: z.optional(z.nullable(z.enum(spendLimitResets))),
  expires_at: z.optional(z.nullable(instant)),
  models: z.optional(modelChoice),
  tags: z.optional(tags),
};

export const newKeySchema = z.strictObject({ workspace: id, name, ...settings });

export const keyChangesSchema = z
  .strictObject({ name: z.optional(name), status: z.optional(z.enum(['active', 'revoked'])), ...settings })
  .check(notEmpty);

const positive = z.int().check(z.minimum(1));
const limitOrNull = z.optional(z.nullable(positive));
const regions = listOf(matching(/^[a-z][a-z0-9-]{1,31}$/, 'a region or country code in lower case, such as eu'), {
  itemsMax: 64,
});

/** As in the gateway file; null takes a policy or a limit away. */
const workspaceSettings = {
  spend_limit_usd: z.optional(z.nullable(usd)),
  models: z.optional(modelChoice),
  data_policy: z.optional(
    z.strictObject({
      zdr: z.optional(z.nullable(z.boolean())),
      data_collection: z.optional(z.nullable(z.enum(['allow', 'deny']))),
      data_residency: z.optional(z.nullable(regions)),
    }),
  ),
  concurrency: limitOrNull,
  function_concurrency: limitOrNull,
  features: z.optional(z.strictObject({ byok: z.optional(z.boolean()), presets: z.optional(z.boolean()) })),
  member_keys: z.optional(
    z.nullable(
      z.strictObject({
        max: z.optional(positive),
        rpm: limitOrNull,
        concurrency: limitOrNull,
        spend_limit_usd: z.optional(z.nullable(usd)),
        spend_limit_reset: z.optional(z.nullable(z.enum(spendLimitResets))),
        expires_in: z.optional(z.nullable(matching(/^[1-9]\d{0,4}[hdw]$/, 'a length of time such as 12h, 30d or 8w'))),
      }),
    ),
  ),
};
const creditUsd = z
  .string({ error: 'must be a text such as "25.00"' })
  .check(z.refine((text) => parseUsd(text) !== undefined, { error: 'must be an amount of USD such as "25.00"' }));

export const newWorkspaceSchema = z.strictObject({ id, credit_usd: z.optional(creditUsd), ...workspaceSettings });
export const workspaceChangesSchema = z.strictObject(workspaceSettings).check(notEmpty);

/** `id` names the addition, as the number of an invoice does. */
export const creditSchema = z.strictObject({ amount_usd: usdChange, id });

/** `grace`: how long the former key goes on; left out: 24 hours. */
export const rotationSchema = z.strictObject({
  grace: z.optional(duration),
  expires_at: z.optional(z.nullable(instant)),
});

/** Of these models; left out: of all. */
export const listUpdateSchema = z.strictObject({
  models: z.optional(listOf(z.string().check(z.minLength(1), z.maxLength(128)), { itemsMax: modelsMax })),
});

export const activationSchema = z.strictObject({ revision: id });

/** A revision as in the gateway file, and whether it serves from now on. `kind` is that of the function. */
export const publicationSchema = z.strictObject({
  kind: z.enum(['prompt', 'workflow']),
  revision: z.record(z.string(), z.unknown()),
  activate: z.optional(z.boolean()),
});

const answersMax = 1_024;
/** What models answered to the calls of the cases, by the `call` that named each. */
export const caseAnswersSchema = z.strictObject({
  revision: id,
  answers: z.optional(
    listOf(z.strictObject({ call: matching(/^[0-9a-f]{64}$/, 'the name of a call'), text: z.string() }), {
      itemsMax: answersMax,
    }),
  ),
});

/** As the description of the interface has them. What no JSON Schema can say is left out. */
export const jsonSchemaOf = (schema: z.ZodMiniObject): Readonly<Record<string, unknown>> => {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
};
