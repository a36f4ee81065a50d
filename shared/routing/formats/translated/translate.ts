// A chat completion through a provider that speaks another format: its package writes the request and reads the answer,
// `send` carries both, and what comes out are the texts of a chat completion.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Candidate } from '../../../configuration/catalogue/index.ts';
import type { EventText, OutputSize } from '../../../protocol/wire/index.ts';
import { askedOutputTokens } from '../../billing/index.ts';
import type { AttemptFailure, DescribeText, NoAnswer, Send } from '../../providers/index.ts';
import { boundBody } from './bounded-body.ts';
import { failureOfAnswer, untranslatable } from './failure.ts';
import { createExchange, type Exchange } from './fetch-through-send.ts';
import { finishFailure } from './finish-reason.ts';
import { loadModel } from './models.ts';
import { toCallOptions, toCallTarget } from './to-call-options.ts';
import { createChunkWriter } from './to-chunks.ts';
import { type AnswerHead, toCompletion } from './to-completion.ts';
import type { TranslatedApi } from './translated-api.ts';

export interface TranslatedCall {
  readonly api: TranslatedApi;
  /** The client's chat completion, whole. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  readonly output: Pick<OutputSize, 'maxOutputTokens' | 'isOutputOpen'>;
  /** The id of an answer to which the provider gives none; ids of its tool calls begin with it. */
  readonly id: string;
  readonly createdSeconds: number;
  /** Between two steps of the translation: others have the event loop there, where what is translated is long. */
  readonly nextStep: () => Promise<void>;
}

/** What it returns is why the stream broke: a value, because this file is bundled apart from those that read it. */
export type TranslatedEvents = AsyncGenerator<EventText[], AttemptFailure | undefined, undefined>;

/** In the form of a chat completion. */
export type TranslatedAnswer =
  | { readonly kind: 'json'; readonly text: string; readonly describe: DescribeText }
  | {
      readonly kind: 'stream';
      readonly events: TranslatedEvents;
      /** Called at the end: a socket that is read to its end serves the next call. */
      readonly drain: () => void;
      readonly describe: DescribeText;
    }
  | NoAnswer;

interface Reading {
  readonly exchange: Exchange;
  readonly head: AnswerHead;
  readonly api: TranslatedApi;
  readonly nextStep: TranslatedCall['nextStep'];
}

/** Rejects where `send` does, or where the body breaks. */
export async function translate(call: TranslatedCall, { entry }: Candidate, send: Send): Promise<TranslatedAnswer> {
  const { api, body, stream, nextStep } = call;
  const target = toCallTarget(body, api, entry.upstream_model, askedOutputTokens(entry, call.output));
  const exchange = createExchange({
    send,
    stream,
    api,
    body: (text) => boundBody(text, target),
    nextStep,
  });
  const openModel = await loadModel(api);
  const model = openModel({ model: entry.upstream_model, fetch: exchange.fetch, generateId: toolCallIds(call.id) });
  const head: AnswerHead = { id: call.id, createdSeconds: call.createdSeconds, model: entry.upstream_model };
  try {
    await nextStep();
    const options = toCallOptions(body, target);
    await nextStep();
    const ask = stream ? openStream : askOnce;
    return await ask(model, options, { exchange, head, api, nextStep });
  } catch (error) {
    return readFailure(error, exchange);
  }
}

async function askOnce(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  reading: Reading,
): Promise<TranslatedAnswer> {
  const result = await model.doGenerate(options);
  await reading.nextStep();
  const isBlocked = result.content.length === 0 && isBlockedPrompt(result.providerMetadata);
  const failure = isBlocked ? blockedPrompt : finishFailure(result.finishReason, 'unreadable_answer');
  if (failure !== undefined) return noAnswer(failure);
  return {
    kind: 'json',
    text: toCompletion(result, reading.head, reading.api),
    describe: describeWith(reading.exchange),
  };
}

async function openStream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  reading: Reading,
): Promise<TranslatedAnswer> {
  const { stream } = await model.doStream(options);
  const { answer } = reading.exchange;
  const drain = () => answer()?.drain();
  return { kind: 'stream', events: readParts(stream, reading), drain, describe: describeWith(reading.exchange) };
}

/** Rejects where reading broke off before the end was said; every other fault is returned. */
async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { exchange, head, api }: Reading,
): TranslatedEvents {
  const writer = createChunkWriter(head, api);
  let hasContent = false;
  const faultOf = (part: LanguageModelV4StreamPart): AttemptFailure | undefined => {
    if (part.type === 'error') return failureOfAnswer(part.error, describeWith(exchange), 'unreadable_event');
    if (part.type !== 'finish') return undefined;
    return !hasContent && isBlockedPrompt(part.providerMetadata)
      ? blockedPrompt
      : finishFailure(part.finishReason, 'truncated_stream');
  };
  let fault: AttemptFailure = { kind: 'failed', cause: 'truncated_stream' };
  try {
    for await (const part of stream) {
      exchange.gavePart();
      const found = faultOf(part);
      if (found !== undefined) {
        fault = found;
        break;
      }
      const texts = writer.write(part);
      hasContent ||= texts.length > 0;
      if (texts.length > 0) yield texts.map((text) => ({ text }));
      // What the provider says behind the end is for `drain`.
      if (part.type === 'finish') return undefined;
    }
  } catch (error) {
    fault = failureOfAnswer(error, describeWith(exchange), 'unreadable_event');
  }
  const broken = exchange.broken();
  if (broken !== undefined) throw broken.error;
  return fault;
}

const blockedPrompt: AttemptFailure = {
  kind: 'invalid',
  reason: 'content_policy_violation',
  cause: 'blocked_prompt',
};

/** Gemini says so in place of an answer. */
const isBlockedPrompt = (metadata: Readonly<Record<string, unknown>> | undefined): boolean => {
  const google = metadata?.google as { promptFeedback?: { blockReason?: unknown } | null } | undefined;
  return typeof google?.promptFeedback?.blockReason === 'string';
};

const noAnswer = (failure: AttemptFailure): NoAnswer => ({ kind: 'failure', failure });

const describeWith =
  ({ answer }: Exchange) =>
  (body: unknown) =>
    answer()?.describe(body);

/** What `send` said comes first: a package wraps it in errors of its own. */
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

function toolCallIds(id: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `call_${id.replaceAll(/[^\w-]/g, '')}_${count}`;
  };
}
