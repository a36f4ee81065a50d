// Assembles a message from its events. Unknown fields and blocks are preserved.
import { type EventFold, emptyObject, type FoldedObject, isObject } from '../../event-folds/index.ts';

interface FoldedBlock {
  readonly fields: FoldedObject;
  /** Input of a tool call, as it was written. */
  input: string;
}

/** Opens a fold. `parseInput` parses a call's input, and returns undefined for text that is not JSON. */
export function openMessageFold(parseInput: (text: string) => unknown): EventFold {
  const message = emptyObject();
  const blocks = new Map<unknown, FoldedBlock>();
  const take = (fields: unknown) => {
    if (isObject(fields)) Object.assign(message, fields);
  };

  function end({ type: _type, delta, usage, ...beside }: FoldedObject): void {
    const counts = isObject(usage) ? Object.entries(usage).filter(([, count]) => count !== null) : [];
    const former = isObject(message.usage) ? message.usage : {};
    take(delta);
    take(beside);
    message.usage = { ...former, ...Object.fromEntries(counts) };
  }

  function add(event: Readonly<FoldedObject>): void {
    const { type, index, delta, content_block: block } = event;
    if (type === 'message_start') take(event.message);
    else if (type === 'message_delta') end(event);
    else if (type === 'content_block_start' && isObject(block)) {
      blocks.set(index, { fields: Object.assign(emptyObject(), block), input: '' });
    } else if (type === 'content_block_delta' && isObject(delta)) addDelta(blocks.get(index), delta);
  }

  /** Returns a complete block. An input that is not JSON was cut off, so its call cannot be made. */
  const wholeBlock = ({ fields, input }: FoldedBlock): object =>
    input === '' ? fields : { ...fields, input: parseInput(input) ?? {} };

  return { add, answer: () => ({ ...message, content: [...blocks.values()].map(wholeBlock) }) };
}

/** Adds a delta, which extends the field of the same name, even if its type is unknown. */
function addDelta(block: FoldedBlock | undefined, { type, citation, ...pieces }: FoldedObject): void {
  if (block === undefined) return;
  const { fields } = block;
  if (type === 'citations_delta') {
    if (Array.isArray(fields.citations)) fields.citations.push(citation);
    else fields.citations = [citation];
    return;
  }
  for (const [name, piece] of Object.entries(pieces)) {
    if (typeof piece !== 'string') continue;
    if (type === 'input_json_delta') block.input += piece;
    else fields[name] = (typeof fields[name] === 'string' ? fields[name] : '') + piece;
  }
}
