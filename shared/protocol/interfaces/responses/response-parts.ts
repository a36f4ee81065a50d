// Walks the parts in the input of a Responses request, with their paths.
import { isJsonObject, type JsonObject } from '../../wire/index.ts';

interface Part {
  /** Path in the request. */
  readonly path: string;
  readonly part: JsonObject;
}

/** Types of images; a screenshot is the result of a tool that runs at the client. */
export const imageTypes: ReadonlySet<unknown> = new Set(['input_image', 'computer_screenshot']);

/** True for items without parts, because they are a part themselves, or refer to stored items. */
const isPart = ({ type }: JsonObject): boolean =>
  type === 'item_reference' || (typeof type === 'string' && type.startsWith('input_'));

interface ToolList {
  readonly path: string;
  readonly list: unknown;
}

/**
 * Yields the lists of tools, which are next to the input and inside it, if they were found by a tool search, or added
 * in mid-conversation.
 */
export function* toolListsOf({ tools, input }: JsonObject): Generator<ToolList> {
  yield { path: 'tools', list: tools };
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    if (isJsonObject(item) && Array.isArray(item.tools)) yield { path: `input[${index}].tools`, list: item.tools };
  }
}

/** Yields the parts of messages and of outputs of tools, and items that are parts themselves. */
export function* partsOf(input: unknown): Generator<Part> {
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    if (!isJsonObject(item)) continue;
    const path = `input[${index}]`;
    if (isPart(item)) yield { path, part: item };
    for (const member of ['content', 'output']) {
      const value = item[member];
      if (isJsonObject(value)) yield { path: `${path}.${member}`, part: value };
      for (const [place, part] of (Array.isArray(value) ? value : []).entries()) {
        if (isJsonObject(part)) yield { path: `${path}.${member}[${place}]`, part };
      }
    }
  }
}
