// Settings of a workspace as operators write them. The gateway file, changes over HTTP, the documents of the management
// interface and their description use this schema.
import * as z from 'zod/mini';
import { keyLimits } from '../keys/index.ts';
import {
  contentLog,
  guardrailIds,
  limit,
  matching,
  modelChoice,
  positiveInteger,
  regions,
  usd,
} from '../value-forms/index.ts';

const zdr = z.boolean();
const dataCollection = z.enum(['allow', 'deny']);

/** Policy that a provider declares, or a workspace demands. */
export const policySchema = z.strictObject({
  zdr: z.optional(zdr),
  data_collection: z.optional(dataCollection),
  data_residency: z.optional(regions),
});
const features = z.strictObject({ byok: z.boolean(), presets: z.boolean() });

export const memberKeysSchema = z.strictObject({
  max: positiveInteger,
  ...keyLimits.shape,
  expires_in: z.nullable(matching(/^[1-9]\d{0,4}[hdw]$/, 'a length of time such as 12h, 30d or 8w')),
});

/** The stored form, complete. */
export const workspaceSettings = z.object({
  spend_limit_usd: z.nullable(usd),
  models: modelChoice,
  data_policy: policySchema,
  concurrency: limit,
  tpm: limit.check(z.describe('Tokens per minute. Null: no limit.')),
  function_concurrency: limit,
  features,
  guardrails: z.nullable(guardrailIds).check(z.describe('They check all its calls. Null: none.')),
  member_keys: z.nullable(memberKeysSchema),
  content_log: z.nullable(contentLog).check(z.describe('Which bodies of calls are kept. Null: none.')),
});

export type WorkspaceSettings = z.output<typeof workspaceSettings>;

/** Complete settings of a stored workspace: settings that did not exist when it was stored are null. */
export const settingsOf = (workspace: { readonly [Name in keyof WorkspaceSettings]?: unknown }): WorkspaceSettings =>
  Object.fromEntries(
    Object.keys(workspaceSettings.shape).map((name) => [name, workspace[name as keyof WorkspaceSettings] ?? null]),
  ) as WorkspaceSettings;

/** The written form: absent settings keep their values. */
export const workspaceChanges = z.partial(
  z.extend(workspaceSettings, {
    /** Null takes a policy away. */
    data_policy: z.strictObject({
      zdr: z.optional(z.nullable(zdr)),
      data_collection: z.optional(z.nullable(dataCollection)),
      data_residency: z.optional(z.nullable(regions)),
    }),
    features: z.partial(features),
    /** Null: members make no keys. An absent limit does not apply. */
    member_keys: z.nullable(z.partial(memberKeysSchema)),
    /** Null: nothing is kept from now on. */
    content_log: z.nullable(z.partial(contentLog)),
  }),
);
export type SettingChanges = z.output<typeof workspaceChanges>;
