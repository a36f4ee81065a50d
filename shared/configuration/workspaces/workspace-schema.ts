// Defines the schema of a workspace's settings as operators write them. The gateway file, changes over HTTP, the
// documents of the management interface and their description use this schema.
import * as z from 'zod/mini';
import { keySchema } from '../keys/index.ts';
import { type MemberLimit, memberLimits, workspaceSettings as rows } from '../settings/index.ts';
import {
  contentLog,
  guardrailIds,
  limit,
  modelChoice,
  positiveInteger,
  regions,
  shapeOf,
  usd,
  validity,
} from '../value-forms/index.ts';

const zdr = z.boolean();
const dataCollection = z.enum(['allow', 'deny']);

/** Policy that a provider declares, or a workspace demands. */
export const policySchema = z.strictObject({
  zdr: z.optional(zdr),
  data_collection: z.optional(dataCollection),
  data_residency: z.optional(regions),
});
/** With `refuse`, a call with an Idempotency-Key under zdr is refused, because no answer is stored for it. */
const underZdr = z.literal('refuse', { error: 'must be refuse' });
const features = z.strictObject({ byok: z.boolean(), presets: z.boolean() });

const memberShape = Object.fromEntries(memberLimits.map((name) => [name, keySchema.shape[name]])) as Pick<
  typeof keySchema.shape,
  MemberLimit
>;
export const memberKeysSchema = z.strictObject({
  max: positiveInteger,
  ...memberShape,
  expires_in: z.nullable(validity),
});

/** Schema of the complete stored settings. */
export const workspaceSettings = z.object({
  ...shapeOf(rows, {
    count: limit,
    usd: z.nullable(usd),
    models: modelChoice,
    ids: z.nullable(guardrailIds),
    contentLog: z.nullable(contentLog),
  }),
  data_policy: policySchema,
  idempotency: z.nullable(z.strictObject({ zdr: underZdr })),
  features,
  member_keys: z.nullable(memberKeysSchema),
});

export type WorkspaceSettings = z.output<typeof workspaceSettings>;

type Stored<Settings> = { readonly [Name in keyof Settings]?: unknown };

/**
 * Returns complete settings of a stored workspace. Settings that did not exist when the workspace was stored are null.
 */
export const settingsOf = (workspace: Stored<WorkspaceSettings>): WorkspaceSettings => {
  const settings = filled(workspaceSettings, workspace) as WorkspaceSettings;
  const { member_keys: members } = settings;
  return { ...settings, member_keys: members && { ...members, ...filled(memberKeysSchema, members) } };
};

const filled = (schema: z.ZodMiniObject, stored: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(schema.shape).map((name) => [name, stored[name] ?? null]));

/** Schema of changes. Absent settings keep their values. */
export const workspaceChanges = z.partial(
  z.extend(workspaceSettings, {
    /** Null removes a policy. */
    data_policy: z.strictObject({
      zdr: z.optional(z.nullable(zdr)),
      data_collection: z.optional(z.nullable(dataCollection)),
      data_residency: z.optional(z.nullable(regions)),
    }),
    /** Null: answers are also stored, sealed, for an Idempotency-Key under zdr. */
    idempotency: z.nullable(z.strictObject({ zdr: z.optional(z.nullable(underZdr)) })),
    features: z.partial(features),
    /** Null: members make no keys. An absent limit does not apply. */
    member_keys: z.nullable(z.partial(memberKeysSchema)),
    /** Null: nothing is stored from now on. */
    content_log: z.nullable(z.partial(contentLog)),
  }),
);
export type SettingChanges = z.output<typeof workspaceChanges>;
