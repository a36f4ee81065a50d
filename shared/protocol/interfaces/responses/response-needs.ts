// What a Responses request needs a candidate to be able to do, and which of its members asks for that.
import { type Feature, findMember, isJsonObject, type JsonText, type RequestNeeds } from '../../wire/index.ts';
import { imageTypes, partsOf } from './response-parts.ts';
import type { ResponsesBody } from './responses-body.ts';

export function responseNeeds(body: ResponsesBody, json: JsonText): RequestNeeds {
  const { tools, stream, store, text } = body;
  const format = isJsonObject(text) && isJsonObject(text.format) ? text.format.type : undefined;
  const features: Feature[] = [];
  if ((tools ?? []).length > 0) features.push({ name: 'tools', member: 'tools' });
  const image = pathOfPart(body, imageTypes);
  if (image !== undefined) features.push({ name: 'vision', member: image });
  const audio = pathOfPart(body, audioTypes);
  if (audio !== undefined) features.push({ name: 'audio', member: audio });
  if (format === 'json_object') features.push({ name: 'json_mode', member: 'text.format' });
  if (stream === true) features.push({ name: 'streaming', member: 'stream' });
  if (isDearerTier(body.service_tier)) features.push({ extra: 'service_tier', member: 'service_tier' });
  for (const [index, tool] of (tools ?? []).entries()) {
    for (const { type } of [tool, ...(Array.isArray(tool.tools) ? tool.tools.filter(isJsonObject) : [])]) {
      const extra = extraOfTool(type);
      if (extra !== undefined) features.push({ extra, member: `tools[${index}]` });
    }
  }
  return {
    features,
    schemaMember: format === 'json_schema' ? 'text.format' : undefined,
    storingMember: store === true ? 'store' : undefined,
    promptBytes: bytesOf(json, 'input') + bytesOf(json, 'instructions'),
  };
}

const audioTypes: ReadonlySet<unknown> = new Set(['input_audio']);

/** Tools that the provider runs itself cost more than tokens. Their types may end in `_preview` or a date. */
const runByProvider = ['web_search', 'file_search', 'code_interpreter', 'image_generation', 'mcp'];

const extraOfTool = (type: unknown): string | undefined =>
  typeof type === 'string' ? runByProvider.find((name) => type === name || type.startsWith(`${name}_`)) : undefined;

/** Tiers at the catalogue's prices or below. */
const usualTiers: readonly unknown[] = ['auto', 'default', 'flex'];
const isDearerTier = (tier: unknown): boolean => (tier ?? null) !== null && !usualTiers.includes(tier);

function pathOfPart({ input }: ResponsesBody, types: ReadonlySet<unknown>): string | undefined {
  for (const { path, part } of partsOf(input)) if (types.has(part.type)) return path;
  return undefined;
}

function bytesOf(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}
