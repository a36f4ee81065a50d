// Checks texts with each of a call's guardrails, one after another, and records their decisions.
import type { GuardrailDirection, GuardrailDocument } from '../../configuration/catalogue/index.ts';
import { type Clock, type Deadline, inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import type { FoundText } from '../../protocol/interfaces/index.ts';
import type { GuardrailCheck } from '../../protocol/router/index.ts';
import type { AskGuardrail, GuardrailAnswer, GuardrailQuestion } from './guardrail-call.ts';

/** A text to check. A mask in text of another kind than plain text blocks the call. */
export type CheckedText = Pick<FoundText, 'text' | 'kind'>;

export type CheckedTexts =
  | { readonly kind: 'passed'; readonly texts: readonly string[] }
  | { readonly kind: 'blocked'; readonly guardrail: string; readonly message: string }
  | FailedCheck;

/** The failure of a guardrail without an answer. Calls of this guardrail are then blocked. */
export interface FailedCheck {
  readonly kind: 'failed';
  readonly guardrail: string;
  readonly cause: unknown;
}

export interface OpenedGuardrail {
  readonly document: GuardrailDocument;
  readonly ask: AskGuardrail;
}

export interface TextChecks {
  readonly guardrails: readonly OpenedGuardrail[];
  readonly callId: string;
  readonly clock: Clock;
  readonly deadline: Deadline;
  readonly clientGone: AbortSignal;
  /** Called with each check. */
  readonly note: (check: GuardrailCheck) => void;
  /** Called with the fault of each check that failed. */
  readonly onFailure: (guardrail: string, direction: GuardrailDirection, cause: unknown) => void;
}

export async function checkTexts(
  checks: TextChecks,
  direction: GuardrailDirection,
  checkedTexts: readonly CheckedText[],
): Promise<CheckedTexts> {
  const unescapeArguments = unescapeInTurns();
  let texts: string[] = [];
  for (const { text, kind } of checkedTexts) texts.push(kind === 'call' ? await unescapeArguments(text) : text);
  if (texts.length === 0) return { kind: 'passed', texts };
  for (const { document, ask } of checks.guardrails) {
    const { id, on, on_failure } = document;
    if (!on.includes(direction)) continue;
    const asking = (question: GuardrailQuestion) =>
      ask(question).then((answer) => withoutFixedMasks(checkedTexts, texts, answer));
    const answer = await askInTime(checks, { document, ask: asking }, direction, texts);
    if ('cause' in answer) {
      if (on_failure === 'pass') continue;
      return { kind: 'failed', guardrail: id, cause: answer.cause };
    }
    if (answer.action === 'block') return { kind: 'blocked', guardrail: id, message: messageOf(answer.message) };
    if (answer.action === 'mask') texts = [...answer.texts];
  }
  return { kind: 'passed', texts };
}

/**
 * Turns masks into a block if a text cannot change. JSON with masked text in it may have another meaning, and other
 * parts of a request refer to a name.
 */
function withoutFixedMasks(
  checkedTexts: readonly CheckedText[],
  texts: readonly string[],
  answer: GuardrailAnswer,
): GuardrailAnswer {
  if (answer.action !== 'mask') return answer;
  const fixed = checkedTexts.find(({ kind }, at) => kind !== 'text' && answer.texts[at] !== texts[at]);
  if (fixed === undefined) return answer;
  const what = fixed.kind === 'call' ? 'Arguments of a tool call' : 'Names of tools, parameters and messages';
  return { ...answer, action: 'block', message: `${what} cannot be masked.` };
}

async function askInTime(
  { callId, clock, deadline, clientGone, note, onFailure }: TextChecks,
  { document: { id, timeout_ms }, ask }: OpenedGuardrail,
  direction: GuardrailDirection,
  texts: readonly string[],
): Promise<GuardrailAnswer | { readonly cause: unknown }> {
  const startedAtMs = clock.nowMs();
  const ending = new AbortController();
  const limitMs = Math.min(timeout_ms, deadline.remainingMs());
  const late = Promise.withResolvers<never>();
  const end = (why: string) => {
    ending.abort();
    late.reject(new Error(why));
  };
  const onGone = () => end('the client has left');
  const cancel = clock.after(limitMs, () => end(`no answer within ${limitMs} ms`));
  clientGone.addEventListener('abort', onGone, { once: true });
  const noted = (action: GuardrailCheck['action'], billed: Pick<GuardrailAnswer, 'units' | 'costPicoUsd'> = {}) =>
    note({ id, direction, action, startedAtMs, ms: clock.nowMs() - startedAtMs, ...billed });
  try {
    const asking = ask({ direction, texts, callId, signal: ending.signal });
    const answer = await Promise.race([asking, late.promise]);
    noted(answer.action, {
      ...(answer.units && { units: answer.units }),
      ...(answer.costPicoUsd && { costPicoUsd: answer.costPicoUsd }),
    });
    return answer;
  } catch (cause) {
    noted('failed');
    onFailure(id, direction, cause);
    return { cause };
  } finally {
    cancel();
    clientGone.removeEventListener('abort', onGone);
  }
}

const defaultMessage = 'The text is blocked.';
const messageMaxCharacters = 1_000;

/** Returns the message in one line. */
const messageOf = (message = ''): string =>
  message.replaceAll(/\s+/g, ' ').trim().slice(0, messageMaxCharacters).toWellFormed() || defaultMessage;

// Unescapes arguments of tool calls, so that an escape hides no word. A text may consist of escapes only, so the code
// makes no call or string for each escape, and lets other work run in between.

/** Number of units that become text in one call. */
const pieceUnits = 4 * 1024;

const escapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }).map(([letter, meant]) => [
    letter.charCodeAt(0),
    meant.charCodeAt(0),
  ]),
);
const backslash = '\\'.charCodeAt(0);
const unicodeLetter = 'u'.charCodeAt(0);
const unicodeLength = '\\u0000'.length;

/**
 * Returns a function that unescapes one text after another. Other work runs after a number of characters of all texts.
 */
export function unescapeInTurns(): (text: string) => Promise<string> {
  const units = new Uint16Array(pieceUnits);
  let characters = 0;
  return async (text) => {
    let at = text.indexOf('\\');
    if (at === -1) return text;
    let plain = text.slice(0, at);
    while (at < text.length) {
      const from = at;
      let length = 0;
      for (; length < pieceUnits && at < text.length; length += 1) {
        const escaped = text.charCodeAt(at) === backslash ? escapedLength(text, at) : 1;
        units[length] = escaped === 1 ? text.charCodeAt(at) : escapedUnit(text, at, escaped);
        at += escaped;
      }
      plain += String.fromCharCode(...units.subarray(0, length));
      characters += at - from;
      if (characters < inOneTurn.jsonCharacters) continue;
      characters = 0;
      await nextTurn();
    }
    return plain;
  };
}

/** Returns the number of characters of an escape; 1 for a backslash at the end of the text, which begins none. */
function escapedLength(text: string, at: number): number {
  if (at + 1 === text.length) return 1;
  if (text.charCodeAt(at + 1) !== unicodeLetter) return 2;
  for (let digit = at + 2; digit < at + unicodeLength; digit += 1) if (!isHexDigit(text.charCodeAt(digit))) return 2;
  return unicodeLength;
}

function escapedUnit(text: string, at: number, length: number): number {
  if (length === unicodeLength) return Number.parseInt(text.slice(at + 2, at + length), 16);
  const letter = text.charCodeAt(at + 1);
  return escapes.get(letter) ?? letter;
}

/** True for a hex digit; false beyond the end of a text. */
const isHexDigit = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
