// The whole file (contract 9): the catalogue's sections and the workspaces with what belongs to them.
import * as z from 'zod';
import { parseUsd } from '../../foundation/money/index.ts';
import { parseApiKey } from '../keys/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { catalogueSections, dataPolicy } from './catalogue-schema.ts';
import {
  chosenBy,
  freeMembers,
  limit,
  mapping,
  plainId,
  presetName,
  providerId,
  quotedDecimal,
  secretReference,
  text,
} from './fields.ts';
import { functionSchema } from './function-schema.ts';

const usd = quotedDecimal.refine((written) => parseUsd(written) !== undefined, {
  error: 'must be an amount of USD such as "25.00"',
});

/** A preset cannot name a preset, and a request always brings its own messages. */
const presetConfig = freeMembers(['preset', 'messages']);

const preset = mapping({
  slug: presetName,
  versions: z.array(mapping({ version: presetName, config: presetConfig })).min(1, { error: 'must not be empty' }),
  designated: presetName,
});

const key = mapping({
  name: text(64).regex(/^\P{Cc}*$/u, { error: 'must not hold control characters' }),
  key: z
    .string()
    .refine((written) => parseApiKey(written) !== undefined, {
      error: 'must be a whole key of this gateway (its checksum is looked at); leave it out and one is made',
    })
    .optional(),
  rpm: limit.default(null),
  spend_limit_usd: usd.nullable().default(null),
  // No default: a file that says nothing must not bring a revoked key back.
  status: z.enum(['active', 'revoked']).optional(),
});

const byok = mapping({
  connections: z
    .array(
      mapping({
        provider: providerId,
        key: secretReference,
        policy: z.enum(['always', 'allowed']),
        budget_usd: usd.nullable().default(null),
      }),
    )
    .default([]),
});

const models = chosenBy<'all' | string[]>((input) =>
  Array.isArray(input) ? z.array(text(128)) : z.literal('all', { error: 'must be all or a list of model ids' }),
);

/** More than this a shortage could not look through within an admission. */
const creditShardsMax = 32;

const workspaceSections = {
  id: plainId,
  credit_usd: usd.default('0'),
  credit_shards: z.int().min(1).max(creditShardsMax).optional(),
  spend_limit_usd: usd.nullable().default(null),
  models: models.prefault('all'),
  data_policy: dataPolicy.default({}),
  function_concurrency: limit.default(20),
  features: mapping({ byok: z.boolean().default(false), presets: z.boolean().default(false) }).prefault({}),
  presets: z.array(preset).default([]),
};

/** The compiler's word that what is read is what is stored. */
export const workspaceSchema = mapping(workspaceSections) satisfies z.ZodType<WorkspaceDocument>;

const workspace = mapping({
  ...workspaceSections,
  keys: z.array(key).default([]),
  byok: byok.prefault({}),
  functions: z.array(functionSchema).default([]),
});

export const gatewayFileSchema = mapping({ ...catalogueSections, workspaces: z.array(workspace).default([]) });

export type GatewayFile = z.infer<typeof gatewayFileSchema>;
export type WorkspaceInFile = GatewayFile['workspaces'][number];
export type KeyInFile = WorkspaceInFile['keys'][number];
