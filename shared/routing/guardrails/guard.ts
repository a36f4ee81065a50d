// The guardrails of one call: what they let through of its request and of its answer. Loaded with the first call that has some, in a
// file of its own, so it throws no error of this project.
import type { GuardrailDocument } from '../../configuration/catalogue/index.ts';
import type { InterfaceId } from '../../foundation/constants/index.ts';
import { type Deadline, nextTurn } from '../../foundation/time/index.ts';
import type { CallMemory } from '../../protocol/memory-budget/index.ts';
import { findMember, type JsonText, replaceValues } from '../../protocol/wire/index.ts';
import type { EventBatch } from '../providers/index.ts';
import { blockedAnswer } from './blocked-answer.ts';
import { streamEnds } from './blocked-stream.ts';
import {
  type CheckedTexts,
  checkTexts,
  type FailedCheck,
  type OpenedGuardrail,
  type TextChecks,
} from './check-texts.ts';
import { textsOfEvent } from './event-texts.ts';
import { type FoundText, textsOfAnswer, textsOfRequest, withoutSpelling } from './find-texts.ts';
import { type GuardedStreamOptions, guardStream } from './guard-stream.ts';
import { type HttpGuardrailDependencies, httpGuardrail } from './http-guardrail.ts';
import { type SpellingFields, spellingFieldsOf } from './text-fields.ts';

export interface GuardOptions extends Omit<TextChecks, 'guardrails'>, HttpGuardrailDependencies {
  readonly guardrails: readonly GuardrailDocument[];
  readonly interfaceId: InterfaceId;
  readonly memory: CallMemory;
  /** Of the answer: later than that of the request where it is a stream. */
  readonly outputDeadline: Deadline;
}

export type GuardedRequest =
  /** `text`: of a request whose texts were masked. */
  | { readonly kind: 'passed'; readonly text: string | undefined }
  | Exclude<CheckedTexts, { readonly kind: 'passed' }>
  /** Its input is written in the tokens of a model, which no guardrail reads. */
  | { readonly kind: 'tokens'; readonly guardrail: string };

export interface Guard {
  readonly ids: readonly string[];
  /** Rejects where there is no memory for the texts. */
  checkRequest(json: JsonText): Promise<GuardedRequest>;
  /** Of chat completions, Messages, Responses or transcriptions; other answers are not checked. Rejects as the other. */
  checkAnswer(json: JsonText): Promise<GuardedAnswer>;
  /** The same stream where nothing is checked. `reader`: of its interface, at its start. */
  checkStream(batches: AsyncIterator<EventBatch, void>, reading: StreamReading): AsyncIterator<EventBatch, void>;
}

export type { FailedCheck };

export type StreamReading = Pick<GuardedStreamOptions, 'reader' | 'onFailed'>;

export type GuardedAnswer =
  /** `text`: of an answer that was masked, or blocked: then it holds the guardrail's message. */
  { readonly kind: 'passed'; readonly text: string | undefined; readonly isBlocked: boolean } | FailedCheck;

export async function openGuard({
  guardrails,
  interfaceId,
  memory,
  outputDeadline,
  ...more
}: GuardOptions): Promise<Guard> {
  const checks: TextChecks = { ...more, guardrails: await Promise.all(guardrails.map((one) => opened(one, more))) };

  async function checkRequest(json: JsonText): Promise<GuardedRequest> {
    const first = guardrails.find(({ on }) => on.includes('input'));
    if (first === undefined) return { kind: 'passed', text: undefined };
    if (interfaceId === 'embeddings' && hasTokens(json)) return { kind: 'tokens', guardrail: first.id };
    const part = memory.openPart();
    await part.reserve(formsOfTexts * json.text.length);
    try {
      const found = await gather(textsOfRequest(interfaceId, json));
      const checked = await checkTexts(checks, 'input', found);
      return checked.kind === 'passed' ? { kind: 'passed', text: maskedText(json, found, checked.texts) } : checked;
    } finally {
      part.keepOnly(0);
    }
  }

  const outputChecks: TextChecks = { ...checks, deadline: outputDeadline };
  const writing = guardrails.filter(({ on }) => on.includes('output'));
  const textsOf = textsOfEvent[interfaceId];
  const openEnd = streamEnds[interfaceId];

  async function checkAnswer(json: JsonText): Promise<GuardedAnswer> {
    if (writing.length === 0 || textsOf === undefined) return { kind: 'passed', text: undefined, isBlocked: false };
    const part = memory.openPart();
    await part.reserve(formsOfTexts * json.text.length);
    try {
      const found = await gather(textsOfAnswer(interfaceId, json));
      const checked = await checkTexts(outputChecks, 'output', found);
      if (checked.kind === 'failed') return checked;
      const isBlocked = checked.kind === 'blocked';
      const text = isBlocked
        ? blockedAnswer(interfaceId, json, checked.message)
        : maskedText(json, found, checked.texts, spellingFieldsOf(interfaceId));
      return { kind: 'passed', text, isBlocked };
    } finally {
      part.keepOnly(0);
    }
  }

  function checkStream(batches: AsyncIterator<EventBatch, void>, reading: StreamReading) {
    if (writing.length === 0 || textsOf === undefined || openEnd === undefined) return batches;
    return guardStream(batches, {
      ...{ clock: more.clock, memory, textsOf, ...reading, end: openEnd() },
      windowCharacters: Math.min(...writing.map(({ window_characters }) => window_characters)),
      check: (texts) => checkTexts(outputChecks, 'output', texts),
    });
  }

  return { ids: guardrails.map(({ id }) => id), checkRequest, checkAnswer, checkStream };
}

/** The texts, what is sent, its bytes, and what comes back. */
const formsOfTexts = 4;

async function opened(
  document: GuardrailDocument,
  { clock, ...deps }: Omit<GuardOptions, 'guardrails' | 'interfaceId' | 'memory' | 'outputDeadline'>,
): Promise<OpenedGuardrail> {
  if (document.kind === 'http') return { document, ask: httpGuardrail(deps, document) };
  const { bedrockGuardrail } = await import('./bedrock-guardrail.ts');
  return { document, ask: bedrockGuardrail(clock, document) };
}

/** Parsed in a few milliseconds. */
const turnMaxCharacters = 256 * 1024;
const turnMaxTexts = 2_048;

/** In turns of the event loop. */
export async function gather(texts: Iterable<FoundText>): Promise<FoundText[]> {
  const found: FoundText[] = [];
  let characters = 0;
  let count = 0;
  for (const one of texts) {
    found.push(one);
    characters += one.text.length;
    count += 1;
    if (characters < turnMaxCharacters && count < turnMaxTexts) continue;
    await nextTurn();
    characters = 0;
    count = 0;
  }
  return found;
}

/** Undefined where nothing was changed. */
function maskedText(json: JsonText, found: readonly FoundText[], texts: readonly string[], spelling?: SpellingFields) {
  const replaced = found.flatMap(({ value, text, isCall }, at): [number, string][] => {
    const masked = texts[at];
    return isCall || masked === undefined || masked === text ? [] : [[value, JSON.stringify(masked)]];
  });
  if (replaced.length === 0) return undefined;
  return replaceValues(json, spelling === undefined ? replaced : withoutSpelling(json, replaced, spelling));
}

function hasTokens(json: JsonText): boolean {
  const input = findMember(json, 'input');
  if (input === undefined || json.isString(input)) return false;
  return json.inside(input).some((item) => !json.isString(item));
}
