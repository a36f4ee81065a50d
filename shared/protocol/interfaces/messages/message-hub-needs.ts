// What a request of Messages asks for that not every format of a provider has words for.
import { type HubNeed, isJsonObject } from '../../wire/index.ts';
import { firstOfEachNeed } from '../index.ts';

type Json = Readonly<Record<string, unknown>>;

export const readHubNeeds = (body: Json): readonly HubNeed[] =>
  firstOfEachNeed([
    ...neededState(body),
    ...forcedTool(body),
    ...neededBlocks(body.system, 'system'),
    ...inMessages(body),
  ]);

const isSent = (value: unknown): boolean => (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);

/** What one provider keeps, no other has. */
const neededState = (body: Json): HubNeed[] =>
  (['thread', 'mcp_servers', 'container'] as const).flatMap((member) =>
    isSent(body[member]) ? [{ kind: member, member }] : [],
  );

/** A tool of a provider's own is left out where it may be; where it must be called there is nothing to call. */
function forcedTool({ tools, tool_choice: choice }: Json): HubNeed[] {
  const list = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  const own = list.filter(({ input_schema: schema }) => isJsonObject(schema));
  const { type, name } = isJsonObject(choice) ? choice : {};
  const isForced = type === 'any' ? own.length === 0 : type === 'tool' && !own.some((tool) => tool.name === name);
  return isForced ? [{ kind: 'tools', member: 'tool_choice' }] : [];
}

const inMessages = ({ messages }: Json): HubNeed[] =>
  (Array.isArray(messages) ? messages : []).flatMap((message, index) =>
    isJsonObject(message) ? neededBlocks(message.content, `messages[${index}].content`) : [],
  );

const neededBlocks = (content: unknown, path: string): HubNeed[] =>
  (Array.isArray(content) ? content : []).flatMap((block, index) =>
    isJsonObject(block) ? neededBlock(block, `${path}[${index}]`) : [],
  );

/** Blocks that every format has words for, or that are said as text. */
const plainBlocks =
  /^(text|thinking|redacted_thinking|tool_use|search_result|tool_reference|server_tool_use|mcp_tool_use|[a-z_]+_tool_result)$/;

function neededBlock(block: Json, member: string): HubNeed[] {
  const { type, source, content } = block;
  if (type === 'tool_result') return neededBlocks(content, `${member}.content`);
  if (type === 'image' || type === 'document') return neededSource(source, type, member);
  if (type === 'container_upload') return [{ kind: 'file_id', member }];
  if (typeof type === 'string' && type.startsWith('compaction')) return [{ kind: 'compaction', member }];
  return typeof type === 'string' && plainBlocks.test(type) ? [] : [{ kind: 'content_part', member }];
}

function neededSource(source: unknown, block: 'image' | 'document', member: string): HubNeed[] {
  const { type, url, media_type: mediaType, content } = isJsonObject(source) ? source : {};
  if (type === 'text') return [];
  if (type === 'content') return neededBlocks(content, `${member}.source.content`);
  if (type === 'url' && typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url)) {
    return [{ kind: block === 'image' ? 'image_url' : 'file_url', member }];
  }
  if (type === 'base64' && block === 'image') return [];
  if (type !== 'base64') return [{ kind: 'file_id', member }];
  return [{ kind: 'file', member, mediaType: typeof mediaType === 'string' ? mediaType : 'application/pdf' }];
}
