// Keeps arguments of tool calls as the provider wrote them. A package would parse them, which rounds long numbers, and
// refuses an answer with a field called `__proto__`. So it gets stand-ins, which are replaced in its output.

import type { HubPart } from '../../../protocol/hub/index.ts';
import { scanAnswer } from '../../../protocol/interfaces/index.ts';
import { findMember, type JsonText, replaceValues } from '../../../protocol/wire/index.ts';
import type { ArgumentsShape } from './targets/hub-target.ts';

interface RawArguments {
  /** An answer, or an event, for a package. */
  readonly takeOut: (text: string) => string;
  readonly putBack: (text: string) => string;
}

/** A step of a path. */
const eachItem = '*';

/** `id`: unknown to the model, so that it cannot write a stand-in. */
export function createRawArguments(id: string, shape: ArgumentsShape | undefined): RawArguments {
  const texts = new Map<string, string>();
  return {
    takeOut(text) {
      if (shape === undefined || !text.includes(shape.mark)) return text;
      const json = scanAnswer(text);
      if (json === undefined) return text;
      const replaced = Array.from(argumentsIn(json, shape), (value) => {
        const standIn = JSON.stringify({ [`arguments of ${id}`]: texts.size });
        texts.set(standIn, json.slice(value));
        return [value, standIn] as const;
      });
      return replaced.length === 0 ? text : replaceValues(json, replaced);
    },
    putBack: (text) => (texts.size === 0 ? text : (texts.get(text) ?? text)),
  };
}

function* argumentsIn(json: JsonText, { paths }: ArgumentsShape): Generator<number> {
  // In the order of the text: an answer, or an event, has them in one place only.
  for (const path of paths) yield* valuesAt(json, 0, path);
}

function* valuesAt(json: JsonText, value: number, [step, ...rest]: readonly string[]): Generator<number> {
  if (step === undefined) {
    // Behind an empty object the arguments may follow in pieces.
    if (json.isObject(value) && json.next(value) > value + 1) yield value;
  } else if (step === eachItem) {
    if (json.isArray(value)) for (const item of json.inside(value)) yield* valuesAt(json, item, rest);
  } else if (json.isObject(value)) {
    const member = findMember(json, step, value);
    if (member !== undefined) yield* valuesAt(json, member, rest);
  }
}

/** Applies `change` to texts of arguments, and to JSON that the model wrote as arguments. */
export function partWithArguments(part: HubPart, change: (text: string) => string): HubPart {
  if (part.type === 'tool-call') return { ...part, input: change(part.input) };
  if (part.type !== 'tool-input-delta' && part.type !== 'text-delta') return part;
  const delta = change(part.delta);
  return delta === part.delta ? part : { ...part, delta };
}
