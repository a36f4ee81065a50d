// What a Messages call needs a candidate to be able to do, and which of its members asks for that.
import { type Feature, isJsonObject, type RequestNeeds } from '../../wire/index.ts';
import { pathOfImage } from './message-media.ts';
import { callSizeOf } from './message-size.ts';
import type { MessagesMembers } from './messages-request.ts';

/** Types of tools that the provider runs itself, at a price of their own. Each has versions: `web_search_20260209`. */
const providerTools = [
  { extra: 'web_search', type: /^web_search(_|$)/ },
  { extra: 'web_fetch', type: /^web_fetch(_|$)/ },
  { extra: 'code_execution', type: /^code_execution(_|$)/ },
  { extra: 'mcp', type: /^mcp(_|$)/ },
] as const;

export function readNeeds(members: MessagesMembers): RequestNeeds {
  const { raw, stream } = members;
  const tools = Array.isArray(raw.tools) ? raw.tools : [];
  const ranByProvider = tools.map(extraOf);
  const image = pathOfImage(raw.messages);
  const features: Feature[] = [
    ...(ranByProvider.includes(undefined) ? [{ name: 'tools', member: 'tools' } as const] : []),
    ...(image === undefined ? [] : [{ name: 'vision', member: image } as const]),
    ...(stream ? [{ name: 'streaming', member: 'stream' } as const] : []),
    ...ranByProvider.flatMap((extra, index) => (extra === undefined ? [] : [{ extra, member: `tools[${index}]` }])),
    ...dearerMembers.flatMap(([member, extra, isDearer]) => (isDearer(raw[member]) ? [{ extra, member }] : [])),
  ];
  // Nothing asks a provider to keep what it was sent.
  const storingMember = undefined;
  return { features, schemaMember: undefined, storingMember, promptBytes: callSizeOf(members).textBytes };
}

/** Undefined: the client runs it. */
function extraOf(tool: unknown): string | undefined {
  const type = isJsonObject(tool) && typeof tool.type === 'string' ? tool.type : '';
  return providerTools.find((known) => known.type.test(type))?.extra;
}

const isOtherThan =
  (...usual: readonly unknown[]) =>
  (value: unknown): boolean =>
    (value ?? null) !== null && !usual.includes(value);

/** What else makes a call dearer than the prices of the catalogue: other tiers, and regions with a surcharge. */
const dearerMembers: readonly (readonly [member: string, extra: string, isDearer: (value: unknown) => boolean])[] = [
  ['mcp_servers', 'mcp', (value) => isOtherThan()(value) && !(Array.isArray(value) && value.length === 0)],
  ['service_tier', 'service_tier', isOtherThan('auto', 'standard_only', 'default', 'flex')],
  ['speed', 'service_tier', isOtherThan('standard')],
  ['inference_geo', 'service_tier', isOtherThan('global')],
];
