// Finds the JSON inside the text of an answer. Models sometimes put it into a code fence without a request to do so.

import { nestsDeeperThan } from './json-value.ts';
import { answerMaxCharacters, answerMaxDepth } from './schema-bounds.ts';

type AnswerJson =
  /** `text` is the JSON alone, its bytes as they came. */
  | { readonly kind: 'json'; readonly text: string; readonly value: unknown }
  | { readonly kind: 'unreadable'; readonly problem: string };

export function readAnswerText(answer: string): AnswerJson {
  if (answer.length > answerMaxCharacters) {
    return { kind: 'unreadable', problem: `is longer than ${answerMaxCharacters} characters` };
  }
  // In this function a byte order mark counts as whitespace.
  const text = withoutFence(answer.trim());
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'unreadable', problem: text === '' ? 'is empty' : 'is not JSON' };
  }
  if (nestsDeeperThan(value, answerMaxDepth)) {
    return { kind: 'unreadable', problem: `nests deeper than ${answerMaxDepth} levels` };
  }
  return { kind: 'json', text, value };
}

/** Removes a fence; its closing line may be missing, because clients use it as a stop sequence. */
function withoutFence(text: string): string {
  const opening = /^```[A-Za-z0-9]*[ \t]*(?=\s|[[{"])/.exec(text)?.[0];
  if (opening === undefined) return text;
  const end = text.endsWith('```') ? text.length - 3 : text.length;
  return text.slice(opening.length, end).trim();
}
