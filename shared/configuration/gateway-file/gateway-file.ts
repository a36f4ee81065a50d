// The whole file: the catalogue's sections and the workspaces with what belongs to them. In workspaces what is
// left out stays as it is stored, so nothing has a default here.
import * as z from 'zod';
import { spendLimitResets } from '../../accounting/holds/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { type ConnectionInFile, connectionsPerWorkspaceMax } from '../byok/index.ts';
import { keyNameText, parseApiKey, type WrittenKey } from '../keys/index.ts';
import type { WorkspaceChanges } from '../workspaces/index.ts';
import { accessSection, memberKeys } from './access-schema.ts';
import { catalogueSections } from './catalogue-schema.ts';
import {
  freeMembers,
  instant,
  limit,
  mapping,
  modelChoice,
  plainId,
  presetName,
  providerId,
  quotedDecimal,
  secretReference,
  tags,
  text,
} from './fields.ts';
import { functionSchema } from './function-schema.ts';
import { regions } from './provider-schema.ts';

const usd = quotedDecimal.refine((written) => parseUsd(written) !== undefined, {
  error: 'must be an amount of USD such as "25.00"',
});

/** A preset cannot name a preset, and a request always brings its own messages. */
const presetConfig = freeMembers(['preset', 'messages']);
const absent = z.literal('absent', { error: 'must be absent, or be left out' });

const preset = mapping('workspaces[].presets[]', {
  slug: presetName,
  state: absent.optional(),
  versions: z
    .array(mapping('workspaces[].presets[].versions[]', { version: presetName, config: presetConfig }))
    .optional(),
  designated: presetName.optional(),
});

const key = mapping('workspaces[].keys[]', {
  name: text(64).regex(keyNameText, { error: 'must not hold control characters' }),
  key: z
    .string()
    .refine((written) => parseApiKey(written) !== undefined, {
      error:
        'must be a whole key of this gateway (its checksum is wrong or missing); leave it out and one is made. The key of a provider goes into byok.connections, key: { env: NAME }',
    })
    .optional(),
  rpm: limit.optional(),
  concurrency: limit.optional(),
  spend_limit_usd: usd.nullable().optional(),
  spend_limit_reset: z.enum(spendLimitResets).nullable().optional(),
  expires_at: instant.nullable().optional(),
  models: modelChoice.optional(),
  tags: tags.optional(),
  status: z.enum(['active', 'revoked']).optional(),
} satisfies Readonly<Record<keyof WrittenKey | 'key', z.ZodType>>);

const connection = mapping('workspaces[].byok.connections[]', {
  provider: providerId,
  state: absent.optional(),
  key: secretReference.optional(),
  policy: z.enum(['always', 'allowed']).optional(),
  budget_usd: usd.nullable().optional(),
}) satisfies z.ZodType<ConnectionInFile>;

/** Null takes a policy away. */
const enforcedPolicy = mapping('workspaces[].data_policy', {
  zdr: z.boolean().nullable().optional(),
  data_collection: z.enum(['allow', 'deny']).nullable().optional(),
  data_residency: regions.nullable().optional(),
});

/** More than this a shortage could not look through within an admission. */
const creditShardsMax = 32;

const workspaceSettings = {
  id: plainId,
  credit_usd: usd.optional(),
  credit_shards: z.int().min(1).max(creditShardsMax).optional(),
  spend_limit_usd: usd.nullable().optional(),
  models: modelChoice.optional(),
  data_policy: enforcedPolicy.optional(),
  concurrency: limit.optional(),
  function_concurrency: limit.optional(),
  features: mapping('workspaces[].features', {
    byok: z.boolean().optional(),
    presets: z.boolean().optional(),
  }).optional(),
  presets: z.array(preset).optional(),
  member_keys: memberKeys.optional(),
};

const workspace = mapping('workspaces[]', {
  ...workspaceSettings,
  keys: z.array(key).default([]),
  byok: mapping('workspaces[].byok', {
    connections: z.array(connection).max(connectionsPerWorkspaceMax).default([]),
  }).prefault({}),
  functions: z.array(functionSchema).default([]),
}) satisfies z.ZodType<WorkspaceChanges>;

export const gatewayFileSchema = mapping('', {
  ...catalogueSections,
  workspaces: z.array(workspace).default([]),
  access: accessSection,
});

export type GatewayFile = z.infer<typeof gatewayFileSchema>;
export type WorkspaceInFile = GatewayFile['workspaces'][number];
export type KeyInFile = WorkspaceInFile['keys'][number];

/** What becomes the stored workspace: keys, connections and functions have tables of their own. */
export function settingsOf({ keys: _keys, byok: _byok, functions: _functions, ...settings }: WorkspaceInFile) {
  return settings satisfies WorkspaceChanges;
}
