// What a Responses request needs a candidate to be able to do, and which of its members asks for that.
import { type Feature, findMember, isJsonObject, type JsonText, type RequestNeeds } from '../../wire/index.ts';
import type { ResponsesBody } from './responses-body.ts';

export function responseNeeds(body: ResponsesBody, json: JsonText): RequestNeeds {
  const { tools, stream, store, text } = body;
  const format = isJsonObject(text) && isJsonObject(text.format) ? text.format.type : undefined;
  const features: Feature[] = [];
  if ((tools ?? []).length > 0) features.push({ name: 'tools', member: 'tools' });
  const image = pathOfPart(body, 'input_image');
  if (image !== undefined) features.push({ name: 'vision', member: image });
  const audio = pathOfPart(body, 'input_audio');
  if (audio !== undefined) features.push({ name: 'audio', member: audio });
  if (format === 'json_object') features.push({ name: 'json_mode', member: 'text.format' });
  if (stream === true) features.push({ name: 'streaming', member: 'stream' });
  if (isDearerTier(body.service_tier)) features.push({ extra: 'service_tier', member: 'service_tier' });
  for (const [index, tool] of (tools ?? []).entries()) {
    const extra = extraOfTool(tool.type);
    if (extra !== undefined) features.push({ extra, member: `tools[${index}]` });
  }
  return {
    features,
    schemaMember: format === 'json_schema' ? 'text.format' : undefined,
    storingMember: store === true ? 'store' : undefined,
    promptBytes: bytesOf(json, 'input') + bytesOf(json, 'instructions'),
  };
}

/** Tools that the provider runs itself cost more than tokens. Their types may end in `_preview` or a date. */
const runByProvider = ['web_search', 'file_search', 'code_interpreter', 'image_generation', 'mcp'];

const extraOfTool = (type: unknown): string | undefined =>
  typeof type === 'string' ? runByProvider.find((name) => type === name || type.startsWith(`${name}_`)) : undefined;

/** Tiers at the catalogue's prices or below. */
const usualTiers: readonly unknown[] = ['auto', 'default', 'flex'];
const isDearerTier = (tier: unknown): boolean => (tier ?? null) !== null && !usualTiers.includes(tier);

/** The first part of this type, in a message or in the output of a tool. */
function pathOfPart({ input }: ResponsesBody, type: string): string | undefined {
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    if (!isJsonObject(item)) continue;
    if (item.type === type) return `input[${index}]`;
    for (const member of ['content', 'output']) {
      const parts = Array.isArray(item[member]) ? item[member] : [];
      const place = parts.findIndex((part) => isJsonObject(part) && part.type === type);
      if (place >= 0) return `input[${index}].${member}[${place}]`;
    }
  }
  return undefined;
}

function bytesOf(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}
