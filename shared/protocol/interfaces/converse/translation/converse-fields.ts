// The fields of messages, blocks and tools of Converse, and those of a request that no other model gets.
import { type FieldUses, fieldUses } from '../../../hub/index.ts';

export const messageFields: FieldUses = fieldUses('role content');

/** Fields of translated blocks, by their kind. A text is no object. */
const blockFields: Readonly<Record<string, FieldUses>> = {
  image: fieldUses('format source', 'error'),
  document: fieldUses('format name source context', 'citations'),
  video: fieldUses('format source'),
  audio: fieldUses('format source', 'error'),
  toolUse: fieldUses('toolUseId name input type'),
  toolResult: fieldUses('toolUseId content status type'),
  reasoningContent: fieldUses('reasoningText redactedContent'),
  citationsContent: fieldUses('content', 'citations'),
  searchResult: fieldUses('source title content', 'citations'),
  guardContent: fieldUses('text image'),
  cachePoint: fieldUses('type ttl'),
};

export const fieldsOfBlock = (kind: string): FieldUses | undefined =>
  Object.hasOwn(blockFields, kind) ? blockFields[kind] : undefined;

export const toolFields: FieldUses = fieldUses('name description inputSchema strict');
export const inferenceFields: FieldUses = fieldUses('maxTokens temperature topP stopSequences');
export const outputFields: FieldUses = fieldUses('textFormat effort');

/**
 * Fields of a model's maker that say what every format can: thinking as Claude, Nova and GPT on Bedrock name it, and `top_k`.
 */
export const makerFields: FieldUses = fieldUses(
  'thinking reasoning_config reasoningConfig reasoning_effort output_config top_k topK tool_choice inferenceConfig',
);
