// Assembles a chat completion from its chunks. Unknown fields of deltas, of choices and of the whole are preserved.
import {
  addPieces,
  type EventFold,
  emptyObject,
  type FoldedObject,
  isEndWord,
  isObject,
  objectsIn,
} from '../../event-folds/index.ts';

interface FoldedChoice {
  readonly message: FoldedObject;
  readonly beside: FoldedObject;
  reason: string | undefined;
}

/** Opens a fold. Its answer has a finish reason for each choice that has ended. */
export function openCompletionFold(): EventFold {
  const head = emptyObject();
  const choices = new Map<number, FoldedChoice>();

  function addChoice(choice: FoldedObject, place: number): void {
    const { index, delta, message, finish_reason: reason, ...beside } = choice;
    const at = typeof index === 'number' ? index : place;
    const folded = choices.get(at) ?? { message: emptyObject(), beside: emptyObject(), reason: undefined };
    choices.set(at, folded);
    const piece = delta ?? message;
    if (isObject(piece)) addPieces(folded.message, piece);
    addPieces(folded.beside, beside);
    if (isEndWord(reason)) folded.reason = reason;
  }

  return {
    add({ choices: list, ...beside }) {
      for (const [name, value] of Object.entries(beside)) if (value !== null) head[name] = value;
      for (const [place, choice] of objectsIn(list).entries()) addChoice(choice, place);
    },
    answer() {
      const { usage, ...rest } = head;
      return {
        ...rest,
        object: 'chat.completion',
        choices: [...choices].sort(([a], [b]) => a - b).map(([index, choice]) => wholeChoice(index, choice)),
        ...(usage === undefined ? {} : { usage }),
      };
    },
  };
}

function wholeChoice(index: number, { message, beside, reason }: FoldedChoice): object {
  const { role = 'assistant', content = null, tool_calls: calls, ...others } = message;
  const placeless = Array.isArray(calls) ? { tool_calls: calls.map(withoutPlace) } : {};
  return { index, message: { role, content, ...others, ...placeless }, ...beside, finish_reason: reason ?? null };
}

function withoutPlace(call: unknown): unknown {
  if (!isObject(call)) return call;
  const { index: _place, ...rest } = call;
  return rest;
}
