// Writes cache marks, and the level of detail of images, in the fields of a provider of chat completions. The package
// writes text as a plain string, which has no place for marks or a level of detail. A content list in its place has a
// place for both.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  type HubCall,
  isMarked,
  type Marked,
  withCacheMarksMax,
  withMarksOfOurs,
  withoutToolMarks,
} from '../../../../protocol/hub/index.ts';
import type { JsonObject } from '../../../../protocol/wire/index.ts';
import type { TargetCall } from './hub-target.ts';
import { knowsMarks } from './openai-cache-marks.ts';

type Word = (options: NonNullable<Marked['providerOptions']>) => JsonObject;

const openRouters: Word = ({ anthropic }) => ({ cache_control: anthropic?.cacheControl });
const openAis: Word = ({ openai }) => ({ prompt_cache_breakpoint: openai?.promptCacheBreakpoint });

/** Returns the field's name; undefined if its servers may not know any. */
export function markWord(
  { provider, openAiNames }: Pick<TargetCall, 'provider' | 'openAiNames'>,
  isOpenAi: boolean,
): Word | undefined {
  if (provider.kind === 'openrouter') return openRouters;
  return isOpenAi && knowsMarks(openAiNames) ? openAis : undefined;
}

/** Returns the call with marks; tools of chat completions have no marks. */
export const markedCall = ({ call, addsCacheMarks }: TargetCall): HubCall =>
  withCacheMarksMax(withoutToolMarks(addsCacheMarks ? withMarksOfOurs(call) : call));

export const withChatMarks = (prompt: LanguageModelV4Prompt, word: Word | undefined): LanguageModelV4Prompt =>
  prompt.map((message) => withOwnWords(message, word));

function withOwnWords(message: LanguageModelV4Message, word: Word | undefined): LanguageModelV4Message {
  const marksOf = (one: Marked): JsonObject | undefined =>
    word !== undefined && isMarked(one) ? word(one.providerOptions ?? {}) : undefined;
  const asContent = <One extends Marked>(one: One, text: string): One => {
    const marks = marksOf(one);
    return marks === undefined ? one : withFields(one, { content: [{ type: 'text', text, ...marks }] });
  };
  switch (message.role) {
    case 'system':
      return asContent(message, message.content);
    case 'user': {
      const [only, ...more] = message.content;
      if (only?.type === 'text' && more.length === 0) return { ...message, content: [asContent(only, only.text)] };
      return {
        ...message,
        content: message.content.map((part) => withFields(part, { ...detailOf(part), ...marksOf(part) })),
      };
    }
    case 'assistant': {
      const markedPart = message.content.findLast(isMarked);
      const marks = markedPart && marksOf(markedPart);
      const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return marks === undefined || text === ''
        ? message
        : withFields(message, { content: [{ type: 'text', text, ...marks }] });
    }
    case 'tool':
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === 'tool-result' && part.output.type === 'text' ? asContent(part, part.output.value) : part,
        ),
      };
  }
}

type Part = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];

function detailOf(part: Part): JsonObject {
  const detail = part.providerOptions?.openai?.imageDetail;
  if (part.type !== 'file' || detail === undefined) return {};
  const { data, mediaType } = part;
  if (data.type === 'url') return { image_url: { url: String(data.url), detail } };
  return data.type === 'data' && typeof data.data === 'string'
    ? { image_url: { url: `data:${mediaType};base64,${data.data}`, detail } }
    : {};
}

/** Adds fields, which the package writes into the message, or the part, after its own. */
const withFields = <One extends Marked>(one: One, fields: JsonObject): One =>
  Object.keys(fields).length === 0
    ? one
    : {
        ...one,
        providerOptions: {
          ...one.providerOptions,
          openaiCompatible: { ...one.providerOptions?.openaiCompatible, ...fields },
        },
      };
