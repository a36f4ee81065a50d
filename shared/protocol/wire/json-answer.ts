// A provider's JSON answer. Lenient: an object with one choice or more is an answer, whatever else it carries.
import { parseJson } from '../../foundation/ids/index.ts';
import { isJsonObject, memberDeeperThan } from './json-body.ts';
import { outputBytesOf } from './stream-chunk.ts';

export interface JsonAnswer {
  readonly body: Record<string, unknown>;
  readonly usage: Record<string, unknown> | undefined;
  readonly outputBytes: number;
}

export type ReadAnswer =
  | { readonly kind: 'answer'; readonly answer: JsonAnswer }
  /** An error object inside a 200: SDKs would take it for a completion. */
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'unreadable' };

/** Above any real answer; everything behind this file may recurse. */
const answerDepthMax = 512;

export function readJsonAnswer(text: string): ReadAnswer {
  if (memberDeeperThan(text, answerDepthMax) !== undefined) return { kind: 'unreadable' };
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    return { kind: 'unreadable' };
  }
  if (!isJsonObject(body)) return { kind: 'unreadable' };
  if ((body.error ?? null) !== null || body.object === 'error') return { kind: 'error', error: body };
  const choices = Array.isArray(body.choices) ? body.choices : [];
  if (choices.length === 0) return { kind: 'unreadable' };
  const usage = isJsonObject(body.usage) ? body.usage : undefined;
  const messages = choices.map((choice) => (isJsonObject(choice) ? choice.message : undefined));
  return { kind: 'answer', answer: { body, usage, outputBytes: outputBytesOf(messages) } };
}

/** `reasoning.exclude` (contract 3): the answer without any member of a message whose name begins with reasoning. */
export function withoutReasoning(body: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(body.choices)) return body;
  const choices = body.choices.map((choice) => {
    if (!isJsonObject(choice) || !isJsonObject(choice.message)) return choice;
    const kept = Object.entries(choice.message).filter(([name]) => !name.startsWith('reasoning'));
    return { ...choice, message: Object.fromEntries(kept) };
  });
  return { ...body, choices };
}
