// A call through a provider that speaks another interface than its client: the source reads it, the target's package writes the
// request and reads the answer, `send` carries both, and the source writes the answer.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import {
  type Candidate,
  reasoningOf,
  thinkingOf,
  unknownModelReasoning,
} from '../../../configuration/catalogue/index.ts';
import { type HubApi, type InterfaceId, largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { nextTurn } from '../../../foundation/time/index.ts';
import { readInTurns } from '../../../protocol/interfaces/index.ts';
import type { CallSize, Envelopes, JsonObject } from '../../../protocol/wire/index.ts';
import { askedOutputTokens, estimateInputTokens } from '../../billing/index.ts';
import type {
  AttemptFailure,
  CandidateOutcome,
  EventBatch,
  NoAnswer,
  ReachedVia,
  Send,
} from '../../providers/index.ts';
import { boundedSend } from './bounded-send.ts';
import { failureOfAnswer, finishFailure, knownEnd, untranslatable } from './failure.ts';
import {
  type AnswerHead,
  type HubPart,
  type HubResult,
  type HubTarget,
  oneCallAtATime,
  type SourceCall,
  type TargetCall,
  withOwnSigned,
  withStrictness,
} from './middle/index.ts';
import { createExchange, type Exchange } from './package-exchange.ts';
import { createPackageNames } from './package-names.ts';
import { contentWithArguments, createRawArguments, partWithArguments } from './raw-arguments.ts';
import { toSentBody } from './sent-body.ts';
import { sourceOf } from './sources/index.ts';
import { endedAtStop, partsToStop, withoutEmptyStops } from './stops.ts';
import { loadTarget } from './targets/index.ts';

export interface HubRequest {
  readonly interfaceId: InterfaceId;
  /** Format of the provider. */
  readonly api: HubApi;
  /** The client's, whole. */
  readonly body: JsonObject;
  readonly characters: number;
  readonly stream: boolean;
  readonly size: CallSize;
  readonly askedModel: string;
  /** Id of an answer to which the provider gives none; ids of its tool calls begin with it. */
  readonly id: string;
  readonly createdSeconds: number;
  readonly envelopes: Envelopes;
  /** The model can be made to call a tool. */
  readonly canForceTools: boolean;
  /** Set where the gateway adds cache marks that its client does not. */
  readonly marksCache: boolean;
  /** Fields beside the body, which are sent to no other interface. */
  readonly leftOut: readonly string[];
}

interface HubAttempt {
  readonly model: ReturnType<HubTarget['openModel']>;
  readonly options: LanguageModelV4CallOptions;
  readonly source: SourceCall;
  readonly target: HubTarget;
  readonly exchange: Exchange;
  readonly head: AnswerHead;
  /** Known once the package has written its request. */
  readonly spoken: () => ReachedVia;
  /** Undoes what we renamed for the package. */
  readonly undoRenames: {
    readonly content: (content: HubResult['content']) => HubResult['content'];
    readonly part: (part: HubPart) => HubPart;
  };
  /** The gateway ends the answer there. */
  readonly stops: readonly string[];
  readonly nextStep: () => Promise<void>;
}

/** Rejects where `send` does, or where the body breaks. */
export async function callThroughHub(request: HubRequest, candidate: Candidate, send: Send): Promise<CandidateOutcome> {
  const { entry } = candidate;
  // Nothing that runs while the answer is awaited refers to the whole request, so its body can be freed.
  const { api, stream, size, id, createdSeconds, askedModel, leftOut: leftOutBeside } = request;
  const { seal } = request.envelopes;
  const target = await loadTarget(api);
  const bounded = boundedSend(send, request.characters);
  const { nextStep } = bounded;
  await nextStep();
  const source = await sourceOf(request.interfaceId)(request.body, nextStep, request.envelopes);
  const model = entry.upstream_model;
  const boundTokens = askedOutputTokens(entry, size);
  await nextStep();
  const packageNames = createPackageNames(withoutEmptyStops(source.call));
  const { call, leftOut: looseTools } = withStrictness(packageNames.call, target.strictness);
  await nextStep();
  const raw = createRawArguments(id, target.argumentsForm);
  const names = [model, candidate.model.id];
  const reasoning = reasoningOf(...names) ?? target.unknownReasoning?.(candidate.provider) ?? unknownModelReasoning;
  const by = { model, provider: candidate.provider };
  const { prompt, leftOut: foreignThinking } = withOwnSigned(call.prompt, target, by);
  const targetCall: TargetCall = {
    call: { ...call, prompt },
    ...by,
    names,
    boundTokens,
    reasoning,
    canForceTools: request.canForceTools,
    marksCache: request.marksCache,
    thinking: thinkingOf(call.reasoning, boundTokens, reasoning),
  };
  const stops = [...new Set(target.unsupportedStops?.(targetCall))];
  let leftOut: readonly string[] = [];
  const exchange = createExchange({
    send: bounded.send,
    stream,
    target,
    async body(text) {
      const sent = await toSentBody(text, target, targetCall, nextStep);
      leftOut = [...sent.leftOut, ...foreignThinking, ...looseTools, ...leftOutBeside];
      return sent.text;
    },
    takeOut: raw.takeOut,
    refusedText: bounded.refusedText,
    nextStep,
  });
  const head: AnswerHead = {
    id,
    createdSeconds,
    model,
    askedModel,
    estimatedInputTokens: () => estimateInputTokens(candidate, size),
    origin: target.originOf(by),
    seal,
    readSigned: target.readSigned,
    refusalOf: target.refusalOf ?? (() => undefined),
  };
  try {
    await nextStep();
    const options = target.toOptions(targetCall);
    await nextStep();
    const opened = target.openModel({ model, ...exchange.settings, generateId: toolCallIds(id), nextStep });
    const spoken = () => ({ format: api, leftOut });
    const undoRenames = {
      content: (content: HubResult['content']) => packageNames.contentOf(contentWithArguments(content, raw.putBack)),
      part: (part: HubPart) => packageNames.partOf(partWithArguments(part, raw.putBack)),
    };
    const asking = { model: opened, options, source, target, exchange, head, undoRenames, spoken, stops, nextStep };
    return await (stream ? openStream(asking) : askOnce(asking));
  } catch (error) {
    return readFailure(error, exchange);
  }
}

async function askOnce(asking: HubAttempt): Promise<CandidateOutcome> {
  const { options, source, target, head, undoRenames, spoken, stops, nextStep } = asking;
  const generated = await asking.model.doGenerate(options);
  const content = undoRenames.content(generated.content);
  const hasCalls = content.some(({ type }) => type === 'tool-call');
  const said = { isWhole: true, hasContent: content.length > 0, hasCalls };
  const whole = { ...generated, content, finishReason: knownEnd(generated.finishReason, said) };
  const result = stops.length === 0 ? whole : endedAtStop(whole, stops);
  await nextStep();
  const isBlocked = result.content.length === 0 && target.isBlockedPrompt?.(result.providerMetadata) === true;
  const isEmpty = target.failsEmpty === true && result.content.length === 0;
  const failure = isBlocked ? blockedPrompt : finishFailure(result.finishReason, 'unreadable_answer', isEmpty);
  if (failure !== undefined) return noAnswer(failure);
  const model = result.response?.modelId ?? head.model;
  const written = { model, ...(await source.writeAnswer(result, head, nextStep)) };
  const json = await readInTurns(written.text, async (scanned) => scanned, largeBodyMaxBytes);
  if (json === undefined) return noAnswer({ kind: 'failed', cause: 'answer_too_large', refusedAnswer: written });
  return { kind: 'json', answer: { ...written, json }, spoken: spoken() };
}

async function openStream(asking: HubAttempt): Promise<CandidateOutcome> {
  const { model, options, ...reading } = asking;
  const { stream } = await model.doStream(options);
  const drain = () => reading.exchange.answer()?.drain();
  return { kind: 'stream', batches: readParts(stream, reading), drain, spoken: reading.spoken() };
}

/** One event may be of ten thousand parts. */
const turnMaxParts = 512;

/** Rejects where reading broke off before the end was said; every other fault is the last batch. */
async function* readParts(
  stream: ReadableStream<HubPart>,
  { exchange, source, target, head, undoRenames, stops }: Omit<HubAttempt, 'model' | 'options'>,
): AsyncGenerator<EventBatch, void, undefined> {
  const write = source.openWriter(head);
  const whole = stops.length === 0 ? stream : partsToStop(stream, exchange.partEmitted, stops);
  const parts = source.writesOneCallAtATime === true ? partsInOrder(whole, exchange.partEmitted) : whole;
  let hasContent = false;
  let hasCalls = false;
  const faultOf = (part: HubPart): AttemptFailure | undefined => {
    if (part.type === 'error') return failureOfAnswer(part.error, describeWith(exchange), 'unreadable_event');
    if (part.type !== 'finish') return undefined;
    return !hasContent && target.isBlockedPrompt?.(part.providerMetadata) === true
      ? blockedPrompt
      : finishFailure(part.finishReason, 'truncated_stream', target.failsEmpty === true && !hasContent);
  };
  let fault: AttemptFailure = { kind: 'failed', cause: 'truncated_stream' };
  try {
    let read = 0;
    for await (const given of parts) {
      read += 1;
      if (read % turnMaxParts === 0) await nextTurn();
      exchange.partEmitted();
      hasCalls ||= given.type === 'tool-call';
      const said = { isWhole: false, hasContent, hasCalls };
      const part = given.type === 'finish' ? { ...given, finishReason: knownEnd(given.finishReason, said) } : given;
      const found = faultOf(part);
      if (found !== undefined) {
        fault = found;
        break;
      }
      const events = write(undoRenames.part(part));
      hasContent ||= events.length > 0;
      if (events.length > 0) yield { events };
      // Events after the end are for `drain`.
      if (part.type === 'finish') return;
    }
  } catch (error) {
    fault = failureOfAnswer(error, describeWith(exchange), 'unreadable_event');
  }
  const broken = exchange.broken();
  if (broken !== undefined) throw broken.error;
  yield { events: [], failure: fault };
}

/** Orders parts for an interface with one call at a time. Several may be interleaved. */
async function* partsInOrder(
  parts: AsyncIterable<HubPart>,
  partEmitted: () => void,
): AsyncGenerator<HubPart, void, undefined> {
  const inOrder = oneCallAtATime();
  for await (const part of parts) {
    partEmitted();
    yield* inOrder(part);
  }
}

const blockedPrompt: AttemptFailure = {
  kind: 'invalid',
  reason: 'content_policy_violation',
  cause: 'blocked_prompt',
};

const noAnswer = (failure: AttemptFailure): NoAnswer => ({ kind: 'failure', failure });

const describeWith =
  ({ answer }: Exchange) =>
  (body: unknown) =>
    answer()?.describe(body);

/** The failure of `send` has precedence, because a package wraps it in errors of its own. */
function readFailure(error: unknown, exchange: Exchange): NoAnswer {
  const failure = exchange.failure();
  if (failure !== undefined) return noAnswer(failure);
  const broken = exchange.broken();
  if (broken !== undefined) throw broken.error;
  if (!exchange.isUnsent()) return noAnswer(failureOfAnswer(error, describeWith(exchange), 'unreadable_answer'));
  const cannot = untranslatable(error);
  if (cannot === undefined) throw error;
  return noAnswer(cannot);
}

/**
 * Characters of a call's own id in the ids of its tool calls, which are short enough to be sent to every provider
 * unchanged.
 */
const idCharactersMax = 28;

function toolCallIds(id: string): () => string {
  const known = id.replaceAll(/\W/g, '').slice(-idCharactersMax);
  let count = 0;
  return () => {
    count += 1;
    return `call_${known}_${count}`;
  };
}
