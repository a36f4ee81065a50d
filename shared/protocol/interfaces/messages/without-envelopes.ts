// Thinking that another model made for this gateway means nothing to the provider of a relayed message, and it would be refused: it
// stays here. All else goes out as it came.
import { findMember, isEnvelope, isJsonObject, type JsonText, mayHoldEnvelope, parseJson } from '../../wire/index.ts';

/** Members to write anew: none where nothing of the kind is in the body, as is usual. */
export function withoutEnvelopes(json: JsonText): readonly (readonly [string, unknown])[] {
  const messages = mayHoldEnvelope(json.text) ? findMember(json, 'messages') : undefined;
  if (messages === undefined) return [];
  const read = parseJson(json.slice(messages));
  return Array.isArray(read) ? [['messages', read.flatMap(withoutForeign)]] : [];
}

/** None: the message held nothing else. */
function withoutForeign(message: unknown): unknown[] {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return [message];
  const content = message.content.filter((block) => !isForeign(block));
  if (content.length === message.content.length) return [message];
  return content.length === 0 ? [] : [{ ...message, content }];
}

const isForeign = (block: unknown): boolean =>
  isJsonObject(block) &&
  ((block.type === 'thinking' && isEnvelope(block.signature)) ||
    (block.type === 'redacted_thinking' && isEnvelope(block.data)));
