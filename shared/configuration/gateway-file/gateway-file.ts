// Defines the schema of the whole file: the catalogue's sections and the workspaces with their contents. Absent fields
// of a workspace keep their stored values, so nothing here has a default.
import * as z from 'zod';
import { programs } from '../../foundation/constants/index.ts';
import { type AccessRule, roles } from '../access/index.ts';
import { type ConnectionInFile, connectionsPerWorkspaceMax } from '../byok/index.ts';
import { keyChanges, keyName, parseApiKey } from '../keys/index.ts';
import { text, usd } from '../value-forms/index.ts';
import { type WorkspaceChanges, workspaceChanges } from '../workspaces/index.ts';
import { catalogueSections } from './catalogue-schema.ts';
import { referenceIssues } from './check-references.ts';
import {
  freeMembers,
  mapping,
  plainId,
  presetName,
  providerId,
  secretReference,
  selectSchema,
  toIssues,
} from './fields.ts';
import { functionSchema } from './function-schema.ts';
import { checkWith, type Issue, type LineOf, oncePerPlace, type Problem, sortProblems, toProblem } from './problems.ts';
import { isMapping, readYaml, type YamlSource } from './yaml-source.ts';

// `access`: roles on the management interface.

/** Maximum number of rules, because they are read with every request of a person. */
const rulesMax = 1_000;
const workspacesMax = 256;

const grantedWorkspaces = selectSchema<'all' | string[]>((input) =>
  Array.isArray(input)
    ? z.array(plainId).min(1, { error: 'must name a workspace' }).max(workspacesMax)
    : z.literal('all', { error: 'must be all or a list of workspace ids' }),
);
const grant = {
  role: z.enum(roles, { error: `must be one of ${roles.join(', ')}` }),
  workspaces: grantedWorkspaces,
  content: z.boolean().optional(),
};
const email = z.email({ error: 'must be an e-mail address' }).max(254);
const contentRoles: readonly string[] = ['editor', 'owner'];
const contentRule = {
  path: ['content'],
  error: 'may be true for the role editor alone: an owner reads the bodies of calls anyway, others never',
};
const mayRead = ({ role, content }: { role: string; content?: boolean | undefined }) =>
  content !== true || contentRoles.includes(role);
const toGroup = mapping('access[]', { group: text(256), ...grant }).refine(mayRead, contentRule);
const toPerson = mapping('access[]', { email, ...grant }).refine(mayRead, contentRule);
const rule = selectSchema<AccessRule>((input) => {
  if (!isMapping(input)) return z.never({ error: 'must be a mapping with group or email, role and workspaces' });
  if ('group' in input && 'email' in input) return z.never({ error: 'must have a group or an email, not both' });
  return 'email' in input ? toPerson : toGroup;
});

const accessSection = z
  .array(rule)
  .max(rulesMax, { error: `must not hold more than ${rulesMax} entries` })
  .optional();

/** Configuration of a preset, which cannot name a preset, and no messages, because a request always brings its own. */
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
  ...keyChanges.shape,
  name: keyName,
  key: z
    .string()
    .refine((written) => parseApiKey(written) !== undefined, {
      error:
        'must be a whole key of this gateway (its checksum is wrong or missing); leave it out and one is made. The key of a provider goes into byok.connections, key: { env: NAME }',
    })
    .optional(),
});

const connection = mapping('workspaces[].byok.connections[]', {
  provider: providerId,
  state: absent.optional(),
  key: secretReference.optional(),
  policy: z.enum(['always', 'allowed']).optional(),
  budget_usd: z.optional(z.nullable(usd)),
}) satisfies z.ZodType<ConnectionInFile>;

/** Maximum number of shards, because a shortage has to read all of them within an admission. */
const creditShardsMax = 32;

const workspace = mapping('workspaces[]', {
  id: plainId,
  credit_usd: z.optional(usd),
  credit_shards: z.int().min(1).max(creditShardsMax).optional(),
  ...workspaceChanges.shape,
  presets: z.array(preset).optional(),
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

/** Returns the stored part of a workspace. Keys, connections and functions have their own tables. */
export function settingsOf({ keys: _keys, byok: _byok, functions: _functions, ...settings }: WorkspaceInFile) {
  return settings satisfies WorkspaceChanges;
}

// Reads and checks the whole file before any part of it is used, with syntax first, then every section's schema and
// every reference between sections in one pass, so that all problems are reported at once.
export interface ReadFile {
  readonly file: GatewayFile;
  /** The file before its check, as plain values, without defaults. */
  readonly source: unknown;
  readonly lineOf: LineOf;
}

export type ReadResult = ({ readonly ok: true } & ReadFile) | { readonly ok: false; readonly problems: Problem[] };

/** Reads the YAML text of a gateway file. Never throws. */
export function readGatewayFile(text: string): ReadResult {
  const { issues: _issues, ...read } = readSource(readYaml(text));
  return read;
}

const isLiteLlmFile = (value: unknown): boolean => isMapping(value) && 'model_list' in value && !('models' in value);
const liteLlmAdvice = `belongs to a file of LiteLLM: \`${programs.commandLine} import litellm FILE > gateway.yaml\` makes a gateway file of it`;

/** Checks plain values. `issues` have their paths as lists. */
export function readSource(source: YamlSource): ReadResult & { readonly issues: readonly Issue[] } {
  if (source.kind === 'unreadable') {
    const { issues } = source;
    return { ok: false, problems: issues.map((issue) => toProblem(issue)), issues };
  }
  if (isLiteLlmFile(source.value)) {
    const issue = { path: ['model_list'], message: liteLlmAdvice };
    return { ok: false, problems: [toProblem(issue, source.lineOf(issue.path))], issues: [issue] };
  }
  const result = checkWith(gatewayFileSchema, source.value);
  const issues = [...source.issues, ...(result.ok ? [] : toIssues(result.issues)), ...referenceIssues(source.value)];
  if (result.ok && issues.length === 0) {
    return { ok: true, file: result.value, source: source.value, lineOf: source.lineOf, issues };
  }
  const problems = oncePerPlace(issues).map((issue) => toProblem(issue, source.lineOf(issue.path)));
  return { ok: false, problems: sortProblems(problems), issues };
}
