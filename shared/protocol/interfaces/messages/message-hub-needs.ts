// Features of a Messages request that not every provider format can express.
import {
  type CallSize,
  type Feature,
  type HubNeed,
  isJsonObject,
  type JsonObject,
  type RequestNeeds,
} from '../../wire/index.ts';
import { dearerFeatures, dearerTools, firstOfEachNeed, isClientTool, neededStops } from '../index.ts';
import { blockUse, messageRoles, toolChoiceTypes } from './block-types.ts';
import { pathOfImage } from './message-media.ts';
import type { MessagesMembers } from './messages-request.ts';
import { declaredTools, offeredTools } from './offered-tools.ts';

export const readHubNeeds = (body: JsonObject): readonly HubNeed[] =>
  firstOfEachNeed([
    ...neededState(body),
    ...forcedTool(body),
    ...neededStops(body.stop_sequences, 'stop_sequences'),
    ...neededBlocks(body.system, 'system'),
    ...inMessages(body),
  ]);

const isSent = (value: unknown): boolean => (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);

/** State that one provider keeps, and an encrypted summary, exist at no other provider. */
const neededState = (body: JsonObject): HubNeed[] =>
  (['thread', 'mcp_servers', 'container', 'compaction'] as const).flatMap((member) =>
    isSent(body[member]) ? [{ kind: member, member }] : [],
  );

/** A provider's own tool is dropped where it is optional; where its call is forced, there would be nothing to call. */
function forcedTool(body: JsonObject): HubNeed[] {
  const schemaTools = offeredTools(body).filter(({ tool }) => isJsonObject(tool.input_schema));
  const { type, name } = isJsonObject(body.tool_choice) ? body.tool_choice : {};
  const isForced =
    type === 'any' ? schemaTools.length === 0 : type === 'tool' && !schemaTools.some(({ tool }) => tool.name === name);
  const isNew = (type ?? null) !== null && !toolChoiceTypes.has(type);
  return isForced || isNew ? [{ kind: 'tools', member: 'tool_choice' }] : [];
}

const inMessages = ({ messages }: JsonObject): HubNeed[] =>
  (Array.isArray(messages) ? messages : []).flatMap((message, index) =>
    isJsonObject(message)
      ? [...neededRole(message, `messages[${index}]`), ...neededBlocks(message.content, `messages[${index}].content`)]
      : [],
  );

/** An unknown role needs support, because the role decides the effect of a message. */
const neededRole = ({ role }: JsonObject, path: string): HubNeed[] =>
  messageRoles.has(role) ? [] : [{ kind: 'content_part', member: `${path}.role` }];

const neededBlocks = (content: unknown, path: string): HubNeed[] =>
  (Array.isArray(content) ? content : []).flatMap((block, index) =>
    isJsonObject(block) ? neededBlock(block, `${path}[${index}]`) : [],
  );

function neededBlock(block: JsonObject, member: string): HubNeed[] {
  const { type, source, content } = block;
  if (type === 'tool_result') return neededBlocks(content, `${member}.content`);
  if (type === 'image' || type === 'document') return neededSource(source, type, member);
  const use = blockUse(type);
  return typeof use === 'string' ? [] : [{ kind: use.needs, member }];
}

/** A text that is no URL may be the name of something that its provider keeps. */
const storedSources: readonly unknown[] = ['file', 'url', undefined];

function neededSource(source: unknown, block: 'image' | 'document', member: string): HubNeed[] {
  const { type, url, media_type: mediaType, content } = isJsonObject(source) ? source : {};
  if (type === 'text') return [];
  if (type === 'content') return neededBlocks(content, `${member}.source.content`);
  if (type === 'url' && typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url)) {
    return [{ kind: block === 'image' ? 'image_url' : 'file_url', member }];
  }
  if (type === 'base64' && block === 'image') return [];
  if (type !== 'base64') return [{ kind: storedSources.includes(type) ? 'file_id' : 'content_part', member }];
  return [{ kind: 'file', member, mediaType: typeof mediaType === 'string' ? mediaType : 'application/pdf' }];
}

// Features that a Messages call needs from a candidate, and the fields that ask for them.

export function readNeeds(
  members: MessagesMembers,
  betas: string | undefined,
  { textBytes, contexts }: Pick<CallSize, 'textBytes' | 'contexts'>,
): RequestNeeds {
  const { raw, stream } = members;
  const declared = declaredTools(raw);
  const image = pathOfImage(raw.messages);
  const first = declared.find(({ tool }) => isClientTool(tool));
  const features: Feature[] = [
    ...(first === undefined ? [] : [{ name: 'tools', member: first.path.replace(/^tools\[.*/, 'tools') } as const]),
    ...(image === undefined ? [] : [{ name: 'vision', member: image } as const]),
    ...(stream ? [{ name: 'streaming', member: 'stream' } as const] : []),
    ...dearerFeatures(raw, { usualTiers, betas }),
    ...dearerTools(
      declared.map(({ tool }) => tool),
      (index) => declared[index]?.path ?? 'tools',
    ),
  ];
  // A thread is a conversation that its provider keeps.
  const storingMember = (raw.thread ?? null) === null ? undefined : 'thread';
  return { features, schemaMember: schemaMemberOf(raw), storingMember, promptBytes: textBytes / contexts };
}

/** Reads its newer place, or the one of the former beta. */
function schemaMemberOf({ output_config: config, output_format: former }: JsonObject): string | undefined {
  if (isSchema(isJsonObject(config) ? config.format : undefined)) return 'output_config.format';
  return isSchema(former) ? 'output_format' : undefined;
}

const isSchema = (format: unknown): boolean => isJsonObject(format) && format.type === 'json_schema';

/** Tiers at the catalogue's prices or below. */
const usualTiers: readonly string[] = ['auto', 'standard_only', 'default', 'flex'];
