// Defines the bodies of changes over HTTP, with the field names of the gateway file; the API description is generated
// from them.
import * as z from 'zod/mini';
import { type JsonObject, listOf } from '../../protocol/wire/index.ts';
import { operatorRoles } from '../access/index.ts';
import { keyChanges, keyName } from '../keys/index.ts';
import { duration, id, instant, matching, notEmpty, text, usd, usdAboveZero, usdChange } from '../value-forms/index.ts';
import { memberKeysSchema, workspaceChanges } from '../workspaces/index.ts';

const spendLimit = { spend_limit_usd: z.optional(z.nullable(usdAboveZero)) };

const changes = { ...keyChanges.shape, ...spendLimit };
const { status: _active, ...newKey } = changes;
export const newKeySchema = z.strictObject({ workspace: id, ...newKey, name: keyName });
export const keyChangesSchema = z.strictObject(changes).check(notEmpty);

const workspaceMembers = {
  ...workspaceChanges.shape,
  ...spendLimit,
  member_keys: z.optional(z.nullable(z.extend(z.partial(memberKeysSchema), spendLimit))),
};
export const newWorkspaceSchema = z.strictObject({ id, credit_usd: z.optional(usd), ...workspaceMembers });
export const workspaceChangesSchema = z.strictObject(workspaceMembers).check(notEmpty);

/** A new operator. An operator without a role is an owner of all workspaces. */
export const newOperatorSchema = z.strictObject({
  name: keyName,
  role: z.optional(z.enum(operatorRoles, { error: `must be one of ${operatorRoles.join(', ')}` })),
  workspaces: z.optional(
    z.union([z.literal('all'), listOf(id, { itemsMin: 1 })], { error: 'must be all or a list of workspaces' }),
  ),
});

/** An addition of credit. `id` identifies the addition, as an invoice number does. */
export const creditSchema = z.strictObject({ amount_usd: usdChange, id });

/** A rotation. `grace` is the time for which the former key stays valid; 24 hours if absent. */
export const rotationSchema = z.strictObject({
  grace: z.optional(duration),
  expires_at: z.optional(z.nullable(instant)),
});

/** Models to update; all if absent. */
export const listUpdateSchema = z.strictObject({
  models: z.optional(listOf(text(128), { itemsMax: 256 })),
});

export const activationSchema = z.strictObject({ revision: id });

/**
 * A publication: a revision as in the gateway file (its fields, or their text as YAML or JSON), and whether it becomes
 * active. A revision with cases becomes active only after the cases have passed, or with `skip_cases`. `kind` is the
 * kind of the function. `id` is the id of the revision if its text has no id or another id.
 */
export const publicationSchema = z.strictObject({
  kind: z.enum(['prompt', 'workflow']),
  revision: z.union([z.string(), z.record(z.string(), z.unknown())], { error: 'must be an object or a text' }),
  id: z.optional(id),
  activate: z.optional(z.boolean()),
  skip_cases: z.optional(z.boolean()),
});

const answersMax = 1_024;
/**
 * Models' answers to the calls of the cases, by the `call` that identifies each: a text, null for no text, or the
 * reason why the call failed.
 */
export const caseAnswersSchema = z.strictObject({
  revision: id,
  answers: z.optional(
    listOf(
      z.strictObject({
        call: matching(/^[0-9a-f]{64}$/, 'the name of a call'),
        text: z.optional(z.string()),
        error: z.optional(z.string()),
      }),
      {
        itemsMax: answersMax,
      },
    ),
  ),
});

/** Returns the schema for the API description, without rules that JSON Schema cannot express. */
export const jsonSchemaOf = (schema: z.ZodMiniObject): JsonObject => {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
};
