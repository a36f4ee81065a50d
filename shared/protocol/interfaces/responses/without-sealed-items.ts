// Reasoning that another model made for this gateway means nothing to the provider of a relayed call, and it would be refused: it
// stays here, and so do the ids of the items that were made with it. All else goes out as it came.
import { findMember, isEnvelope, isJsonObject, type JsonText, mayHoldEnvelope, parseJson } from '../../wire/index.ts';
import { isOwnItemId } from './item-ids.ts';

/** Members to write anew: none where nothing of the kind is in the body, as is usual. */
export function withoutSealedItems(json: JsonText): readonly (readonly [string, unknown])[] {
  const input = mayHoldEnvelope(json.text) ? findMember(json, 'input') : undefined;
  if (input === undefined) return [];
  const items = parseJson(json.slice(input));
  return Array.isArray(items) ? [['input', items.filter((item) => !isForeign(item)).map(withoutOwnId)]] : [];
}

const isForeign = (item: unknown): boolean =>
  isJsonObject(item) && item.type === 'reasoning' && isEnvelope(item.encrypted_content);

function withoutOwnId(item: unknown): unknown {
  if (!isJsonObject(item) || !isOwnItemId(item.id)) return item;
  const { id: _id, ...rest } = item;
  return rest;
}
