// Merges a preset, which is a stored part of a workspace's requests, into a request. Pure: the merged body is read and
// checked like a body that the client sent. The request takes precedence, field by field, but it cannot loosen a data
// policy.
import { fail, GatewayError, quote, suggest } from '../../errors/index.ts';
import { gatewayMembers, outputBoundNames, readChatRequest } from '../../protocol/interfaces/chat-completions/index.ts';
import {
  isJsonObject,
  type JsonObject,
  memberFault,
  type PolicyOptions,
  type PresetOption,
} from '../../protocol/wire/index.ts';
import type { DeclaredPolicy } from '../catalogue/index.ts';
import type { WorkspaceDocument } from './workspace-document.ts';

/** The part of the workspace that a preset needs. */
type PresetOwner = Pick<WorkspaceDocument, 'features' | 'presets' | 'data_policy'>;

interface AppliedPreset<Workspace> {
  /** The merged body, without `preset`. */
  readonly body: Record<string, unknown>;
  /**
   * The workspace for this call. Its data policy includes the policy of the preset, so a request that loosens either
   * policy is refused like any other loosening, after unknown models.
   */
  readonly workspace: Workspace;
}

/**
 * Returns preset_not_found if there is no such slug or version, or presets are off in the workspace. For a stored
 * preset that cannot be part of any request, returns the error of such a request.
 */
export function applyPreset<Workspace extends PresetOwner>(
  body: Record<string, unknown>,
  workspace: Workspace,
  named: PresetOption,
): AppliedPreset<Workspace> | GatewayError {
  if (!workspace.features.presets) {
    return fail('preset_not_found', { message: 'Presets are not enabled for the workspace.' });
  }
  const name = readName(named);
  const config = findConfig(workspace, name);
  if (config === undefined) return failUnknownPreset(workspace, name);
  // A mistake in the preset is not a mistake of the client, whose request may even override it.
  const alone = readAlone(config);
  if (alone instanceof GatewayError) {
    return fail(alone.code as 'invalid_request', { message: `The preset is not valid: ${alone.message}` });
  }
  const data_policy = strictest(workspace.data_policy, alone.provider.policy);
  return { body: mergeBodies(config, body), workspace: { ...workspace, data_policy } };
}

interface NamedPreset {
  readonly slug: string;
  /** Version; undefined for the designated version. */
  readonly version: string | undefined;
}

function readName(named: PresetOption): NamedPreset {
  if (typeof named !== 'string') return { slug: named.slug, version: named.version ?? undefined };
  const [slug = '', ...version] = named.split('@');
  return { slug, version: version.length === 0 ? undefined : version.join('@') };
}

function findConfig({ presets }: PresetOwner, { slug, version }: NamedPreset): JsonObject | undefined {
  const preset = presets.find((known) => known.slug === slug);
  const wantedVersion = version ?? preset?.designated;
  return preset?.versions.find((known) => known.version === wantedVersion)?.config;
}

/** Returns the error, which quotes the requested name and suggests the nearest name. */
function failUnknownPreset({ presets }: PresetOwner, { slug, version }: NamedPreset): GatewayError {
  const preset = presets.find((known) => known.slug === slug);
  if (preset === undefined) {
    const slugs = presets.map((known) => known.slug);
    const hint = suggest(slug, slugs, slugs.length === 0 ? 'The workspace has none.' : listed(slugs));
    return fail('preset_not_found', { message: `There is no preset ${quote(slug)}. ${hint}` });
  }
  const what = version === undefined ? 'no designated version' : `no version ${quote(version)}`;
  const versions = listed(preset.versions.map((known) => known.version));
  return fail('preset_not_found', { message: `The preset "${slug}" has ${what}. ${versions}` });
}

/** Number of names that a message lists. */
const listedMax = 10;

const listed = (names: readonly string[]): string =>
  `There are: ${names.slice(0, listedMax).join(', ')}${names.length > listedMax ? ', …' : ''}.`;

/** Reads the preset as a request of its own. */
const readAlone = (config: JsonObject) => {
  const model = isAbsent(config.model) && isAbsent(config.models) ? { model: 'preset' } : {};
  return readChatRequest({ ...config, ...model, messages: [{ role: 'user' }] });
};

/** Returns undefined for a preset that can be part of a request. */
export function presetFault(config: JsonObject) {
  const alone = readAlone(config);
  return alone instanceof GatewayError ? memberFault(alone) : undefined;
}

/**
 * Returns the weakest policy that satisfies both. If there is no common region, the list is empty, and no provider
 * fits.
 */
const strictest = (enforced: DeclaredPolicy, added: PolicyOptions): DeclaredPolicy => ({
  zdr: added.zdr === true ? true : enforced.zdr,
  data_collection: added.data_collection === 'deny' ? 'deny' : enforced.data_collection,
  data_residency: commonRegions(enforced.data_residency, added.data_residency),
});

function commonRegions(enforced: string[] | undefined, added: readonly string[] | undefined): string[] | undefined {
  if (added === undefined) return enforced;
  return enforced === undefined ? [...added] : enforced.filter((region) => added.includes(region));
}

// Merges a preset and a request. Fields of the request replace fields of the preset completely, but `provider` is
// merged field by field, so that a request that sorts keeps the providers and the policies that the preset names.

/**
 * Names of the same setting. With two of these names in the body, the preset's setting could override the request's
 * setting.
 */
const sameSetting: readonly (readonly string[])[] = [outputBoundNames, ['reasoning', 'reasoning_effort']];

function mergeBodies(preset: JsonObject, request: JsonObject): Record<string, unknown> {
  const defaults = withoutOverridden(preset, request);
  const merged: Record<string, unknown> = { ...defaults, ...request };
  // Null in a field of the gateway means absent. Elsewhere null is a value, and reaches the provider.
  for (const name of [...gatewayMembers, 'model']) {
    if (isAbsent(request[name]) && Object.hasOwn(defaults, name)) merged[name] = defaults[name];
  }
  if (!isAbsent(request.provider)) merged.provider = mergeProvider(preset.provider, request.provider);
  delete merged.preset;
  return merged;
}

const isAbsent = (value: unknown): boolean => value === null || value === undefined;

function withoutOverridden(preset: JsonObject, request: JsonObject): JsonObject {
  const defaults = { ...preset };
  for (const names of sameSetting) {
    if (names.every((name) => isAbsent(request[name]))) continue;
    for (const name of names) delete defaults[name];
  }
  // A list alone names all models of a request. Otherwise the preset's models would be called before them.
  if (isAbsent(request.model) && !isAbsent(request.models)) delete defaults.model;
  return defaults;
}

function mergeProvider(preset: unknown, request: unknown): unknown {
  if (!isJsonObject(preset) || !isJsonObject(request)) return request;
  const stated = Object.entries(request).filter(([, value]) => !isAbsent(value));
  return { ...preset, ...Object.fromEntries(stated) };
}
