// The bodies of changes that come over HTTP, in the words of the gateway file. What the description of the interface says of them follows from here.
import * as z from 'zod/mini';
import { spendLimitResets } from '../../accounting/holds/index.ts';
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

/** What is left out stays, or has its default. */
const settings = {
  rpm: z.optional(z.nullable(z.int().check(z.minimum(1)))),
  concurrency: z.optional(z.nullable(z.int().check(z.minimum(1)))),
  spend_limit_usd: z.optional(z.nullable(usd)),
  spend_limit_reset: z.optional(z.nullable(z.enum(spendLimitResets))),
  expires_at: z.optional(z.nullable(instant)),
  models: z.optional(
    z.union([z.literal('all'), listOf(z.string().check(z.minLength(1), z.maxLength(128)), { itemsMax: modelsMax })], {
      error: 'must be "all" or a list of ids of models',
    }),
  ),
  tags: z.optional(tags),
};

export const newKeySchema = z.strictObject({ workspace: id, name, ...settings });

export const keyChangesSchema = z
  .strictObject({ name: z.optional(name), status: z.optional(z.enum(['active', 'revoked'])), ...settings })
  .check(notEmpty);

/** `id` names the addition, as the number of an invoice does. */
export const creditSchema = z.strictObject({ amount_usd: usdChange, id });

/** `grace`: how long the former key goes on; left out: 24 hours. */
export const rotationSchema = z.strictObject({
  grace: z.optional(duration),
  expires_at: z.optional(z.nullable(instant)),
});

export const activationSchema = z.strictObject({ revision: id });

/** As the description of the interface has them. What no JSON Schema can say is left out. */
export const jsonSchemaOf = (schema: z.ZodMiniObject): Readonly<Record<string, unknown>> => {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
};
