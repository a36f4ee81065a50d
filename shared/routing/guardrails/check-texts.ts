// Checks texts with each of a call's guardrails, in their order, and notes what they decided.
import type { GuardrailDirection, GuardrailDocument } from '../../configuration/catalogue/index.ts';
import type { Clock, Deadline } from '../../foundation/time/index.ts';
import type { FoundText } from '../../protocol/interfaces/index.ts';
import type { GuardrailCheck } from '../../protocol/router/index.ts';
import { unescapeInTurns } from './call-arguments.ts';
import type { AskGuardrail, GuardrailAnswer, GuardrailQuestion } from './guardrail-call.ts';

/** A mask in one that is no plain text blocks. */
export type CheckedText = Pick<FoundText, 'text' | 'kind'>;

export type CheckedTexts =
  | { readonly kind: 'passed'; readonly texts: readonly string[] }
  | { readonly kind: 'blocked'; readonly guardrail: string; readonly message: string }
  | FailedCheck;

/** A guardrail without an answer, whose calls are then blocked. */
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

/** JSON with other texts in it may say anything, and others refer to a name. */
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

/** In one line. */
const messageOf = (message = ''): string =>
  message.replaceAll(/\s+/g, ' ').trim().slice(0, messageMaxCharacters).toWellFormed() || defaultMessage;
