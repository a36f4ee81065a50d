// Removes items that the gateway wrote itself and that a client sends again. No provider knows another model's sealed
// thinking, or an id that refers to this thinking.
import { fail } from '../../../errors/index.ts';
import {
  findMember,
  isEnvelope,
  isJsonObject,
  type JsonObject,
  type JsonText,
  mayHoldEnvelope,
  pick,
  presence,
  rewriteMembers,
} from '../../wire/index.ts';
import { isOwnItemId, membersOf, ownItemMark, type RelayedChanges } from '../index.ts';
import { itemType, itemUse } from './item-types.ts';

/**
 * Refuses references to messages and calls, which the gateway does not store. References to thinking are not refused,
 * because the model can continue without the thinking.
 */
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

/** Shape of the parts of an item that identify its author. */
const itemShape = membersOf({ type: {}, id: {}, role: presence });

/**
 * Returns the changes of a relayed call. Most bodies contain no item of the gateway, and need no changes. No other item
 * is read or rewritten.
 */
export function withoutOwnItems(json: JsonText): RelayedChanges {
  const mayHoldSome = mayHoldEnvelope(json.text) || json.text.includes(ownItemMark);
  const input = mayHoldSome ? findMember(json, 'input') : undefined;
  if (input === undefined || !json.isArray(input)) return { changes: [], leftOut: [] };
  const items: string[] = [];
  let leftOut: string | undefined;
  let isChanged = false;
  let at = 0;
  for (const value of json.inside(input)) {
    const item = json.isObject(value) ? (pick(json, value, itemShape) as JsonObject) : {};
    const sealed = item.type === 'reasoning' && isSealed(json, value);
    const isForeign = sealed || (itemType(item) === 'item_reference' && itemUse(item) === 'left_out');
    const hasOwnId = isOwnItemId(item.id);
    if (isForeign) leftOut ??= `input[${at}]${sealed ? '.encrypted_content' : ''}`;
    else items.push(hasOwnId ? rewriteMembers(json, withoutId, value) : json.slice(value));
    isChanged ||= isForeign || hasOwnId;
    at += 1;
  }
  return {
    changes: [],
    replaced: isChanged ? [[input, `[${items.join(',')}]`]] : [],
    leftOut: leftOut === undefined ? [] : [leftOut],
  };
}

const withoutId: ReadonlyMap<string, unknown> = new Map([['id', undefined]]);

function isSealed(json: JsonText, item: number): boolean {
  const content = findMember(json, 'encrypted_content', item);
  return content !== undefined && json.isString(content) && isEnvelope(json.slice(content).slice(1));
}
