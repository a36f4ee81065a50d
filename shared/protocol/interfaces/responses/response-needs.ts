// Features that a Responses request needs from a candidate, and the fields that ask for them.
import { type Feature, findMember, isJsonObject, type JsonText, type RequestNeeds } from '../../wire/index.ts';
import { dearerFeatures, dearerTools, openAiUsualTiers, retentionMember } from '../index.ts';
import { imageTypes, partsOf, toolListsOf } from './response-parts.ts';
import type { ResponsesBody } from './responses-body.ts';

interface NeedsReading {
  readonly json: JsonText;
  /** The header with the betas that are asked for. */
  readonly betas: string | undefined;
}

export function responseNeeds(body: ResponsesBody, { json, betas }: NeedsReading): RequestNeeds {
  const { tools, stream, text } = body;
  const format = isJsonObject(text) && isJsonObject(text.format) ? text.format.type : undefined;
  const features: Feature[] = [];
  if ((tools ?? []).length > 0) features.push({ name: 'tools', member: 'tools' });
  const image = pathOfPart(body, imageTypes);
  if (image !== undefined) features.push({ name: 'vision', member: image });
  const audio = pathOfPart(body, audioTypes);
  if (audio !== undefined) features.push({ name: 'audio', member: audio });
  if (format === 'json_object') features.push({ name: 'json_mode', member: 'text.format' });
  if (stream === true) features.push({ name: 'streaming', member: 'stream' });
  features.push(...dearerFeatures(body, { usualTiers: openAiUsualTiers, betas }));
  // The text, tools and other contents of a stored prompt are known to the provider only.
  if ((body.prompt ?? null) !== null) features.push({ extra: 'prompt', member: 'prompt' });
  for (const { path, list } of toolListsOf(body)) features.push(...dearerTools(list, (index) => `${path}[${index}]`));
  return {
    features,
    schemaMember: format === 'json_schema' ? 'text.format' : undefined,
    storingMember: storingMemberOf(body),
    promptBytes: bytesOf(json, 'input') + bytesOf(json, 'instructions'),
  };
}

const audioTypes: ReadonlySet<unknown> = new Set(['input_audio']);

/** A conversation keeps its items, whatever `store` says. */
function storingMemberOf(body: ResponsesBody): string | undefined {
  if (body.store === true) return 'store';
  return (body.conversation ?? null) === null ? retentionMember(body) : 'conversation';
}

function pathOfPart({ input }: ResponsesBody, types: ReadonlySet<unknown>): string | undefined {
  for (const { path, part } of partsOf(input)) if (types.has(part.type)) return path;
  return undefined;
}

function bytesOf(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}
