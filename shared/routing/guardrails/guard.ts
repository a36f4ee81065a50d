// The guardrails of one call: what they let through of its request and of its answer. Loaded with the first call that has some, in a
// file of its own, so it throws no error of this project.
import type { GuardrailDocument } from '../../configuration/catalogue/index.ts';
import { type Deadline, nextTurn } from '../../foundation/time/index.ts';
import { type FoundText, type InterfaceGrammar, rescanned, withTexts } from '../../protocol/interfaces/index.ts';
import { answerWeights, type CallMemory, smallAnswerMaxBytes } from '../../protocol/memory-budget/index.ts';
import { type JsonText, rewriteMembers } from '../../protocol/wire/index.ts';
import type { EventBatch } from '../providers/index.ts';
import {
  type CheckedTexts,
  checkTexts,
  type FailedCheck,
  type OpenedGuardrail,
  type TextChecks,
} from './check-texts.ts';
import { type GuardedStreamOptions, guardStream } from './guard-stream.ts';
import { type HttpGuardrailDependencies, httpGuardrail } from './http-guardrail.ts';

export interface GuardOptions extends Omit<TextChecks, 'guardrails'>, HttpGuardrailDependencies {
  readonly guardrails: readonly GuardrailDocument[];
  /** Of the interface of the client. */
  readonly grammar: InterfaceGrammar;
  readonly memory: CallMemory;
  /** Of the answer: later than that of the request where it is a stream. */
  readonly outputDeadline: Deadline;
}

/** The parts that a check has changed. */
interface MaskedText {
  readonly text: string;
  /** Paths of parts that were dropped. */
  readonly dropped: readonly string[];
}

export type GuardedRequest =
  /** `masked`: undefined where the request goes on as it came. */
  | { readonly kind: 'passed'; readonly masked: MaskedText | undefined }
  | Exclude<CheckedTexts, { readonly kind: 'passed' }>
  /** Its input is written in the tokens of a model, which no guardrail reads. */
  | { readonly kind: 'tokens'; readonly guardrail: string };

export interface Guard {
  readonly ids: readonly string[];
  checkRequest(json: JsonText): Promise<GuardedRequest>;
  /** Rejects where there is no memory for the texts. */
  checkAnswer(json: JsonText): Promise<GuardedAnswer>;
  /** The same stream where nothing is checked. `reader`: of its interface, at its start. */
  checkStream(batches: AsyncIterator<EventBatch, void>, reading: StreamReading): AsyncIterator<EventBatch, void>;
}

export type { FailedCheck };

type StreamReading = Pick<GuardedStreamOptions, 'reader' | 'onBlocked' | 'onFailed'>;

type GuardedAnswer =
  /** `masked`: undefined where it leaves as it came. A blocked one holds the guardrail's message. */
  { readonly kind: 'passed'; readonly masked: MaskedText | undefined; readonly isBlocked: boolean } | FailedCheck;

export async function openGuard({
  guardrails,
  grammar,
  memory,
  outputDeadline,
  ...more
}: GuardOptions): Promise<Guard> {
  const checks: TextChecks = { ...more, guardrails: await Promise.all(guardrails.map((one) => opened(one, more))) };

  async function checkRequest(json: JsonText): Promise<GuardedRequest> {
    const first = guardrails.find(({ on }) => on.includes('input'));
    if (first === undefined) return { kind: 'passed', masked: await withoutThinking(json, grammar, undefined) };
    if (grammar.hasTokens(json)) return { kind: 'tokens', guardrail: first.id };
    const found = await gather(grammar.textsOfRequest(json));
    const checked = await checkTexts(checks, 'input', found);
    if (checked.kind !== 'passed') return checked;
    return { kind: 'passed', masked: await withoutThinking(json, grammar, withTexts(json, found, checked.texts)) };
  }

  const outputChecks: TextChecks = { ...checks, deadline: outputDeadline };
  const writing = guardrails.filter(({ on }) => on.includes('output'));
  const { answers } = grammar;

  async function checkAnswer(json: JsonText): Promise<GuardedAnswer> {
    if (writing.length === 0 || answers === undefined) return { kind: 'passed', masked: undefined, isBlocked: false };
    const allocation = memory.openAnswer();
    await allocation.take(answerWeights.guarded * json.text.length, {
      mayWait: json.text.length > smallAnswerMaxBytes,
    });
    try {
      const found = await gather(answers.ofAnswer(json));
      const checked = await checkTexts(outputChecks, 'output', found);
      if (checked.kind === 'failed') return checked;
      if (checked.kind === 'passed') {
        const masked = withTexts(json, found, checked.texts, answers.spellingFields);
        return { kind: 'passed', masked, isBlocked: false };
      }
      return { kind: 'passed', masked: { text: answers.blocked(json, checked.message), dropped: [] }, isBlocked: true };
    } finally {
      allocation.keepOnly(0);
    }
  }

  function checkStream(batches: AsyncIterator<EventBatch, void>, reading: StreamReading) {
    if (writing.length === 0 || answers === undefined) return batches;
    return guardStream(batches, {
      ...{ clock: more.clock, memory, answers, ...reading, end: answers.openBlockedEnd() },
      windowCharacters: Math.min(...writing.map(({ window_characters }) => window_characters)),
      check: (texts) => checkTexts(outputChecks, 'output', texts),
    });
  }

  return { ids: guardrails.map(({ id }) => id), checkRequest, checkAnswer, checkStream };
}

async function opened(
  document: GuardrailDocument,
  { clock, ...deps }: Omit<GuardOptions, 'guardrails' | 'grammar' | 'memory' | 'outputDeadline'>,
): Promise<OpenedGuardrail> {
  switch (document.kind) {
    case 'http':
      return { document, ask: httpGuardrail(deps, document) };
    case 'bedrock': {
      const { bedrockGuardrail } = await import('./bedrock-guardrail.ts');
      return { document, ask: bedrockGuardrail(clock, document) };
    }
    default: {
      const { textGuardrail } = await import('./text-guardrail.ts');
      return { document, ask: textGuardrail(document) };
    }
  }
}

/** Parsed in a few milliseconds. */
const turnMaxCharacters = 256 * 1024;
/** As many times a walk over values without a text may go on. */
const turnMaxSteps = 8;

/** In turns of the event loop, by what was found and what was looked at. */
export async function gather(texts: Iterable<FoundText | undefined>): Promise<FoundText[]> {
  const found: FoundText[] = [];
  let characters = 0;
  let steps = 0;
  for (const one of texts) {
    if (one === undefined) steps += 1;
    else {
      found.push(one);
      characters += one.text.length;
    }
    if (characters < turnMaxCharacters && steps < turnMaxSteps) continue;
    await nextTurn();
    characters = 0;
    steps = 0;
  }
  return found;
}

/** A turn that needs thinking which a mask has taken out of the conversation, now or when it was answered, does not think. */
async function withoutThinking(
  json: JsonText,
  { thinkingToStop }: InterfaceGrammar,
  masked: MaskedText | undefined,
): Promise<MaskedText | undefined> {
  const body = masked === undefined || masked.dropped.length === 0 ? json : await rescanned(masked.text);
  const field = thinkingToStop(body);
  if (field === undefined) return masked;
  const current = masked === undefined || body !== json ? body : await rescanned(masked.text);
  return {
    text: rewriteMembers(current, new Map([[field, undefined]])),
    dropped: [...(masked?.dropped ?? []), field],
  };
}
