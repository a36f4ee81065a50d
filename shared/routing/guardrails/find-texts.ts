// The texts in a request or an answer, with their places.
import type { InterfaceId } from '../../foundation/constants/index.ts';
import { findMember, type JsonText } from '../../protocol/wire/index.ts';
import {
  callFields,
  callObjects,
  closedFields,
  isOfAnswer,
  isSetting,
  logProbabilities,
  namingFields,
  type SpellingFields,
} from './text-fields.ts';

export interface FoundText {
  /** Its value in the JSON. */
  readonly value: number;
  readonly text: string;
  /** Arguments of a tool call, which cannot be masked. */
  readonly isCall: boolean;
}

/** In the order of the body. */
export function* textsOfRequest(interfaceId: InterfaceId, json: JsonText): Generator<FoundText> {
  for (const { name, value } of json.members()) {
    if (isSetting(interfaceId, name)) continue;
    if (interfaceId === 'rerank' && name === 'documents') yield* stringsIn(json, value);
    else if (name === 'prompt' && json.isObject(value)) yield* textsOfPrompt(json, value);
    else yield* textsIn(json, value, name);
  }
}

/** A variable has any name, and is a text or a part of content. */
function* textsOfPrompt(json: JsonText, prompt: number): Generator<FoundText> {
  for (const inner of json.inside(prompt)) {
    const name = json.name(inner);
    if (name !== 'variables') yield* textsIn(json, inner, name);
    else if (!json.isObject(inner)) yield* stringsIn(json, inner);
    else for (const variable of json.inside(inner)) yield* textsOfVariable(json, variable);
  }
}

function textsOfVariable(json: JsonText, variable: number): Generator<FoundText> {
  const isPart = json.isObject(variable) && findMember(json, 'type', variable) !== undefined;
  return isPart ? textsIn(json, variable, '', true) : stringsIn(json, variable);
}

/** Reads values whose fields have any name. Recursive within the depth of a body. */
function* stringsIn(json: JsonText, value: number): Generator<FoundText> {
  if (json.isString(value)) {
    const text = JSON.parse(json.slice(value)) as string;
    if (text.trim() !== '') yield { value, text, isCall: false };
  } else if (json.isArray(value) || json.isObject(value)) {
    for (const inner of json.inside(value)) yield* stringsIn(json, inner);
  }
}

export function* textsOfAnswer(interfaceId: InterfaceId, json: JsonText): Generator<FoundText> {
  for (const { name, value } of json.members()) if (isOfAnswer(interfaceId, name)) yield* textsIn(json, value, name);
}

/** `name`: of the field that the value, or the list around it, is in. Recursive within the depth of a body. */
export function* textsIn(
  json: JsonText,
  value: number,
  name: string,
  isListed = false,
  keepsBlanks = false,
): Generator<FoundText> {
  if (closedFields.has(name)) return;
  if (json.isString(value)) {
    if (namingFields.has(name)) return;
    const text = JSON.parse(json.slice(value)) as string;
    if (text === '' || (!keepsBlanks && text.trim() === '')) return;
    const isCall = callFields.has(name);
    yield { value, text, isCall };
  } else if (json.isArray(value)) {
    for (const inner of json.inside(value)) yield* textsIn(json, inner, name, true);
  } else if (json.isObject(value)) {
    const [first] = json.inside(value);
    if (!isListed && callObjects.has(name)) {
      if (first !== undefined) yield { value, text: json.slice(value), isCall: true };
      return;
    }
    const encoded = encodedFieldOf(json, value, name);
    for (const inner of json.inside(value)) {
      const innerName = json.name(inner);
      if (innerName !== encoded) yield* textsIn(json, inner, innerName);
    }
  }
}

/** By the type of their object: media, and thinking that only its provider reads. */
const encodedFields: Readonly<Record<string, string>> = {
  base64: 'data',
  redacted_thinking: 'data',
  'reasoning.encrypted': 'data',
  image_generation_call: 'result',
};

function encodedFieldOf(json: JsonText, object: number, name: string): string | undefined {
  if (name === 'input_audio' || name === 'audio') return 'data';
  const type = findMember(json, 'type', object);
  const word = type === undefined ? '' : json.slice(type).slice(1, -1);
  return Object.hasOwn(encodedFields, word) ? encodedFields[word] : undefined;
}

/** Without these an answer would spell what is masked in it. Sorted, with the changes of its texts. */
export function withoutSpelling(
  json: JsonText,
  changes: readonly (readonly [value: number, text: string])[],
  names: SpellingFields = logProbabilities,
): (readonly [value: number, text: string])[] {
  const spelling: [number, string][] = [];
  for (let value = 0; value < json.next(0); value += 1) {
    if (names.has(json.name(value))) spelling.push([value, json.isArray(value) ? '[]' : 'null']);
  }
  return [...changes, ...spelling].toSorted(([a], [b]) => a - b);
}
