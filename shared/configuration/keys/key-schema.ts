// Settings of a key as operators write them. The gateway file, changes over HTTP, the documents of the management
// interface and their description use this schema.
import * as z from 'zod/mini';
import { spendLimitResets } from '../../accounting/holds/index.ts';
import { contentLog, guardrailIds, instant, limit, modelChoice, tags, text, usd } from '../value-forms/index.ts';
import type { KeyLimits, WrittenKey } from './key-settings.ts';

type SchemasOf<Members> = { readonly [Member in keyof Members]: z.ZodMiniType<Members[Member]> };

/** Text that can be stored and shown in a line: no control character and no half of a surrogate pair. */
export const keyName = text(64).check(z.regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: 'must not hold control characters' }));

/** `member_keys` of a workspace has them too. */
export const keyLimits = z.object({
  rpm: limit.check(z.describe('Requests per minute. Null: no limit.')),
  concurrency: limit.check(z.describe('Calls in flight. Null: the default of the service.')),
  spend_limit_usd: z.nullable(usd),
  spend_limit_reset: z
    .nullable(z.enum(spendLimitResets))
    .check(z.describe('When the spending that counts against the limit starts again (UTC). Null: never.')),
} satisfies SchemasOf<KeyLimits>);

export const keySchema = z.object({
  name: keyName,
  status: z.enum(['active', 'revoked']),
  ...keyLimits.shape,
  tpm: limit.check(z.describe('Tokens per minute. Null: no limit.')),
  expires_at: z.nullable(instant),
  models: modelChoice,
  tags,
  content_log: z
    .nullable(z.partial(contentLog))
    .check(
      z.describe('Which bodies of its calls are kept: never more than the workspace keeps. Null: as the workspace.'),
    ),
  guardrails: guardrailIds.check(z.describe('They check its calls beside those of its workspace.')),
} satisfies SchemasOf<WrittenKey>);

/** An absent setting keeps its value, or has its default. */
export const keyChanges = z.partial(keySchema);
