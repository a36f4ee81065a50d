// Finds the features of a request that may cost more than the tokens of its provider entry. Only an entry that lists
// these features in `extras` is called. Fields are recognized by their names. Tools that cost only tokens are listed; a
// tool of any other type counts as more expensive.
import type { Extra } from '../../foundation/constants/index.ts';
import { type Feature, isJsonObject, type JsonObject, type Shape } from '../wire/index.ts';
import { stateToolShapes } from './provider-state.ts';
import { membersOf } from './read-members.ts';

type DearerFeature = Extract<Feature, { readonly extra: Extra }>;

/** Fields of a tool that are read. A namespace contains tools of its own. */
export const toolShape: Shape = membersOf({ ...stateToolShapes, type: {}, name: {}, max_uses: {} });
(toolShape.members as Map<string, Shape>).set('function', membersOf({ name: {} })).set('tools', { items: toolShape });

/**
 * Matches tools that run at the client, or search among the tools of the request. Each tool may have versions, such as
 * `bash_20250124`.
 */
const tokensOnly =
  /^(namespace|local_shell|apply_patch|computer|computer-preview|browser_toolset|tool_search|bash|text_editor|memory)(_|$)/;

const clientTools: ReadonlySet<unknown> = new Set(['function', 'custom']);

/** Tools that a provider runs, by the providers' names for them, with versions and previews. */
const extrasOfTools: readonly (readonly [Extra, RegExp])[] = [
  // The price of the tool is not documented.
  ['other_tools', /^programmatic_tool_calling$/],
  ['web_search', /^(web|x|browser|live|google|bing|enterprise_web)_search(_|$)/],
  ['web_fetch', /^(web_fetch|url_context)(_|$)/],
  ['file_search', /^(file_search|collections_search|document_library|retrieval)(_|$)/],
  ['code_interpreter', /^code_interpreter(_|$)/],
  ['code_execution', /^code_execution(_|$)/],
  ['image_generation', /^image_generation(_|$)/],
  ['mcp', /^mcp(_|$)/],
  ['advisor', /^advisor(_|$)/],
  ['shell', /^shell(_|$)/],
];

/**
 * Matches the mark of a vendor. Some providers write the vendor first (`openrouter:web_search`), or mark built-in tools
 * (`$web_search`).
 */
const vendorMark = /^(\$|[a-z]+:)/;

/** Returns the first tool for each extra. `pathOf` returns its path by its position in the list. */
export function dearerTools(tools: unknown, pathOf: (index: number) => string): readonly DearerFeature[] {
  if (!Array.isArray(tools)) return [];
  const found = new Map<Extra, DearerFeature>();
  for (const [index, tool] of tools.entries()) {
    for (const extra of extrasOf(tool)) {
      if (!found.has(extra)) found.set(extra, { extra, member: pathOf(index) });
    }
  }
  return [...found.values()];
}

/** True if the client runs the tool. */
export const isClientTool = (tool: unknown): boolean => extraOf(tool) === undefined;

/** Yields the extras of a tool and of the tools in it. It recurses within the depth of a body. */
function* extrasOf(tool: unknown): Generator<Extra> {
  const extra = extraOf(tool);
  if (extra !== undefined) yield extra;
  if (isJsonObject(tool) && Array.isArray(tool.tools)) for (const inner of tool.tools) yield* extrasOf(inner);
}

/** Returns undefined for a tool that costs tokens only. */
function extraOf(tool: unknown): Extra | undefined {
  if (!isJsonObject(tool)) return 'other_tools';
  const { type = null, environment } = tool;
  const name = isJsonObject(tool.function) ? tool.function.name : tool.name;
  if (clientTools.has(type) || (type === null && typeof name === 'string')) {
    return typeof name === 'string' && name.startsWith('$') ? extraNamed(name) : undefined;
  }
  if (typeof type !== 'string') return 'other_tools';
  // The environment of a shell determines who runs the shell.
  if (type === 'shell') return (environment ?? null) === null || isLocal(environment) ? undefined : 'shell';
  if (tokensOnly.test(type)) return undefined;
  return extraNamed(type === 'builtin_function' && typeof name === 'string' ? name : type);
}

const isLocal = (environment: unknown): boolean => isJsonObject(environment) && environment.type === 'local';

function extraNamed(type: string): Extra {
  return listedExtra(type) ?? 'other_tools';
}

function listedExtra(type: string): Extra | undefined {
  const plain = type.replace(vendorMark, '');
  return extrasOfTools.find(([, names]) => names.test(plain))?.[0];
}

export const isListedTool = (type: string): boolean =>
  clientTools.has(type) || tokensOnly.test(type) || listedExtra(type) !== undefined;

/** True for a value that has an effect; null, `false` and an empty list have none. */
const isOn = (value: unknown): boolean =>
  (value ?? null) !== null && value !== false && !(Array.isArray(value) && value.length === 0);

const isOtherThan =
  (...usual: readonly unknown[]) =>
  (value: unknown): boolean =>
    (value ?? null) !== null && !usual.includes(value);

const isSearching = (value: unknown): boolean => isOn(value) && !(isJsonObject(value) && value.mode === 'off');

/** Fields of all interfaces, because a provider that is a gateway itself accepts fields of other interfaces. */
const dearerMembers: Readonly<Record<string, readonly [Extra, (value: unknown) => boolean]>> = {
  web_search_options: ['web_search', isOn],
  search_parameters: ['web_search', isSearching],
  enable_search: ['web_search', isOn],
  enable_web_search: ['web_search', isOn],
  search_options: ['web_search', isOn],
  web_search: ['web_search', isOn],
  connectors: ['web_search', isOn],
  compound_custom: ['web_search', isOn],
  data_sources: ['file_search', isOn],
  enable_code_interpreter: ['code_interpreter', isOn],
  plugins: ['plugins', isOn],
  mcp_servers: ['mcp', isOn],
  // The field names a container of the provider, or skills that run in a container.
  container: ['code_execution', isOn],
  fallbacks: ['fallbacks', isOn],
  speed: ['service_tier', isOtherThan('standard')],
  inference_geo: ['service_tier', isOtherThan('global')],
};

/** Fields with betas, which are usually sent in a header; some providers accept them in the body. */
const betaMembers: readonly string[] = ['anthropic_beta', 'betas'];

/** Top-level fields that `dearerFeatures` reads. */
export const surchargeFields: readonly string[] = [...Object.keys(dearerMembers), ...betaMembers, 'service_tier'];

interface DearerReading {
  /** Tiers at the catalogue's prices or below. */
  readonly usualTiers: readonly unknown[];
  /** The header with the requested betas. */
  readonly betas?: string | undefined;
}

export const openAiUsualTiers: readonly unknown[] = ['auto', 'default', 'flex'];

const dearerEntries = Object.entries(dearerMembers);
const surchargeNames: ReadonlySet<string> = new Set(surchargeFields);

/** Returns the features in the fields of a request, and in its betas. */
export function dearerFeatures(raw: JsonObject, { usualTiers, betas }: DearerReading): readonly DearerFeature[] {
  const features: DearerFeature[] = [];
  if (betas === undefined && !Object.keys(raw).some((name) => surchargeNames.has(name))) return features;
  for (const [member, [extra, isAsked]] of dearerEntries) {
    if (isAsked(raw[member])) features.push({ extra, member });
  }
  if (isOtherThan(...usualTiers)(raw.service_tier)) features.push({ extra: 'service_tier', member: 'service_tier' });
  for (const member of betaMembers) for (const extra of extrasOfBetas(raw[member])) features.push({ extra, member });
  for (const extra of extrasOfBetas(betas?.split(','))) features.push({ extra, header: 'anthropic-beta' });
  return features;
}

const noExtras: ReadonlySet<Extra> = new Set();

/** Extras of betas that enlarge the window or add a model. */
const extrasOfBeta: readonly (readonly [Extra, RegExp])[] = [
  ['long_context', /^context-\d+[km]/i],
  ['advisor', /^advisor/i],
];

function extrasOfBetas(betas: unknown): ReadonlySet<Extra> {
  if (betas === undefined) return noExtras;
  const listed: readonly unknown[] = Array.isArray(betas) ? betas : typeof betas === 'string' ? betas.split(',') : [];
  const names = listed.filter((beta) => typeof beta === 'string').map((beta) => beta.trim());
  return new Set(extrasOfBeta.filter(([, beta]) => names.some((name) => beta.test(name))).map(([extra]) => extra));
}
