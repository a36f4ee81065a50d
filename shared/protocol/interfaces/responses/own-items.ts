// Items that the gateway wrote itself, as they come back. No provider knows them: neither what another model thought, sealed, nor an
// id that says so.
import { fail } from '../../../errors/index.ts';
import { findMember, isEnvelope, isJsonObject, type JsonText, mayHoldEnvelope, parseJson } from '../../wire/index.ts';
import { isOwnItemId, ownItemMark, type RelayedChanges } from '../index.ts';
import { itemType, itemUse } from './item-types.ts';

/** A message, or a call, is kept nowhere, so it cannot be referred to. Thinking can: its model does without. */
export function refuseOwnReferences(input: unknown): void {
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    if (!isJsonObject(item) || itemType(item) !== 'item_reference' || !isOwnItemId(item.id)) continue;
    if (itemUse(item) === 'left_out') continue;
    const remedy = 'send the item itself, which store: false makes the AI SDK do';
    throw fail('invalid_request', {
      message: `input[${index}]: refers to an item of a translated answer, which is kept nowhere: ${remedy}`,
      param: `input[${index}]`,
    });
  }
}

/** Of a relayed call: nothing where nothing of the kind is in the body, as is usual. */
export function withoutOwnItems(json: JsonText): RelayedChanges {
  const mayHoldSome = mayHoldEnvelope(json.text) || json.text.includes(ownItemMark);
  const input = mayHoldSome ? findMember(json, 'input') : undefined;
  const items = input === undefined ? undefined : parseJson(json.slice(input));
  if (!Array.isArray(items)) return { changes: [], leftOut: [] };
  const [first] = items.flatMap((item, at) =>
    isForeign(item) ? [`input[${at}]${isSealed(item) ? '.encrypted_content' : ''}`] : [],
  );
  return {
    changes: [['input', items.filter((item) => !isForeign(item)).map(withoutOwnId)]],
    leftOut: first === undefined ? [] : [first],
  };
}

const isSealed = (item: unknown): boolean =>
  isJsonObject(item) && item.type === 'reasoning' && isEnvelope(item.encrypted_content);

const isForeign = (item: unknown): boolean =>
  isSealed(item) || (isJsonObject(item) && itemType(item) === 'item_reference' && itemUse(item) === 'left_out');

function withoutOwnId(item: unknown): unknown {
  if (!isJsonObject(item) || !isOwnItemId(item.id)) return item;
  const { id: _id, ...rest } = item;
  return rest;
}
