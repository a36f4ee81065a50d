// Finds the ends of log probabilities in turns. Log probabilities make an answer long, and the gateway does not read
// them, so the one pass over the answer can skip them.
import { largeBodyMaxBytes, upstreamBodyMaxBytes } from '../../foundation/constants/index.ts';
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import { createBracketReader, findMember, type RoutedRequest } from '../wire/index.ts';

const memberName = '"logprobs"';
/**
 * Matches the text after a field's name. A quotation mark without a backslash before it begins a string, so the string
 * is a name.
 */
const beforeBracket = /\s{0,16}:\s{0,16}(?=[[{])/y;
/**
 * Maximum number of fields with that name that are checked, which is far more than the number of choices. A text that
 * consists of this name must not cause a turn for each field.
 */
const namesMax = 1_024;
const nothing: readonly string[] = ['null', 'false', '0'];

/** Returns the bound of a JSON answer of chat completions or Responses. */
export function answerMaxBytes(request: RoutedRequest): number {
  const json = request.text();
  const isAsked = ['logprobs', 'top_logprobs'].some((name) => {
    const member = findMember(json, name);
    return member !== undefined && !nothing.includes(json.slice(member));
  });
  return isAsked ? largeBodyMaxBytes : upstreamBodyMaxBytes;
}

/** Finds the end of each list or object of log probabilities, by its start. Returns undefined for a short text. */
export async function findLogprobs(text: string): Promise<ReadonlyMap<number, number> | undefined> {
  if (text.length <= inOneTurn.passedBytes) return undefined;
  const ends = new Map<number, number>();
  let turnEnd = inOneTurn.passedBytes;
  let at = text.indexOf(memberName);
  for (let names = 0; at >= 0 && names < namesMax; names += 1, at = text.indexOf(memberName, at + 1)) {
    beforeBracket.lastIndex = at + memberName.length;
    if (text[at - 1] === '\\' || !beforeBracket.test(text)) continue;
    const start = beforeBracket.lastIndex;
    const readTo = createBracketReader(text, start);
    let end = readTo(turnEnd);
    for (; end < 0 && turnEnd < text.length; end = readTo(turnEnd)) {
      await nextTurn();
      turnEnd += inOneTurn.passedBytes;
    }
    if (end < 0) break;
    ends.set(start, end);
    at = end - 1;
  }
  await nextTurn();
  return ends;
}

/** Returns the length of the text without log probabilities. */
export function charactersWithoutLogprobs(text: string, ends: ReadonlyMap<number, number> | undefined): number {
  let characters = text.length;
  for (const [start, end] of ends ?? []) characters -= end - start;
  return characters;
}
