// Assembles an answer of Converse from its events. An event is recognized by its fields, so their names need not be
// stored. Unknown fields and blocks are preserved.
import { type EventFold, emptyObject, type FoldedObject, isObject } from '../../event-folds/index.ts';

/** Opens a fold. `parseInput` parses a call's input, and returns undefined for text that is not JSON. */
export function openConverseFold(parseInput: (text: string) => unknown): EventFold {
  const blocks = new Map<unknown, FoldedBlock>();
  const beside = emptyObject();
  let role: unknown = 'assistant';

  /**
   * Returns the block at an index. The block is created if it has no start event, as is usual for text and thinking.
   */
  function blockAt(index: unknown): FoldedBlock {
    const block = blocks.get(index) ?? openBlock(parseInput);
    blocks.set(index, block);
    return block;
  }

  function add({ p: _padding, ...event }: Readonly<FoldedObject>): void {
    const { contentBlockIndex: index, start, delta, role: spoken, ...fields } = event;
    if (spoken !== undefined) role = spoken;
    if (isObject(start)) blockAt(index).begin(start);
    if (isObject(delta)) blockAt(index).add(delta);
    Object.assign(beside, fields);
  }

  return {
    add,
    answer: () => ({
      output: { message: { role, content: [...blocks.values()].flatMap((block) => block.whole() ?? []) } },
      ...beside,
    }),
  };
}

type FoldedBlock = ReturnType<typeof openBlock>;

function openBlock(parseInput: (text: string) => unknown) {
  let text: string | undefined;
  let input = '';
  let thinking: FoldedObject | undefined;
  const citations: unknown[] = [];
  let results: unknown[] | undefined;
  /** The fields with which the block began, and pieces of other kinds. */
  const others = emptyObject();

  const think = (name: string, piece: string) => {
    thinking ??= emptyObject();
    thinking[name] = (typeof thinking[name] === 'string' ? thinking[name] : '') + piece;
  };

  function add(delta: FoldedObject): void {
    const { text: textPiece, toolUse, reasoningContent, citation, toolResult, ...rest } = delta;
    if (typeof textPiece === 'string') text = (text ?? '') + textPiece;
    if (isObject(toolUse) && typeof toolUse.input === 'string') input += toolUse.input;
    if (isObject(reasoningContent)) {
      thinking ??= emptyObject();
      for (const [name, piece] of Object.entries(reasoningContent)) if (typeof piece === 'string') think(name, piece);
    }
    if (citation !== undefined) citations.push(citation);
    if (Array.isArray(toolResult)) {
      results ??= [];
      for (const result of toolResult) results.push(result);
    }
    for (const [name, piece] of Object.entries(rest)) {
      others[name] = isObject(others[name]) && isObject(piece) ? { ...others[name], ...piece } : piece;
    }
  }

  function whole(): FoldedObject | undefined {
    if (thinking !== undefined) return { reasoningContent: wholeThinking(thinking) };
    if (isObject(others.toolUse)) return { toolUse: { ...others.toolUse, input: wholeInput(input, parseInput) } };
    if (citations.length > 0) return { citationsContent: { content: [{ text: text ?? '' }], citations } };
    if (text !== undefined) return { text };
    if (results !== undefined) return { ...others, toolResult: withResults(others.toolResult, results) };
    return Object.keys(others).length === 0 ? undefined : { ...others };
  }

  return { begin: (start: FoldedObject) => void Object.assign(others, start), add, whole };
}

/** Returns the input. Input that is not JSON was cut off, so its call cannot be made. */
const wholeInput = (input: string, parseInput: (text: string) => unknown): unknown =>
  input === '' ? {} : (parseInput(input) ?? {});

function wholeThinking({ text, signature, ...rest }: FoldedObject): FoldedObject {
  if (text === undefined && signature === undefined && Object.keys(rest).length > 0) return rest;
  return { reasoningText: { text: text ?? '', ...(signature === undefined ? {} : { signature }) } };
}

function withResults(begun: unknown, results: readonly unknown[]): FoldedObject {
  const { content, ...fields } = isObject(begun) ? begun : {};
  return { ...fields, content: [...(Array.isArray(content) ? content : []), ...results] };
}
