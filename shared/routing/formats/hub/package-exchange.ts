// Replaces the `fetch` of a package. The package's request is sent through `send`, so that the gateway determines the
// URL, the credential, the signature, the time limits, the sockets and the classification of failures. The package's
// own errors for a failed request are ignored.
import { jsonValuesMax, upstreamEventMaxBytes } from '../../../foundation/constants/index.ts';
import { nextTurn } from '../../../foundation/time/index.ts';
import type { TextWithFiles } from '../../../protocol/forms/index.ts';
import { jsonResponse } from '../../../protocol/hub/index.ts';
import { stringifyInTurns } from '../../../protocol/wire/index.ts';
import type { AttemptFailure, ReceivedAnswer, ReceivingSend } from '../../providers/index.ts';
import { errorIn } from './failure.ts';
import type { HubTarget } from './targets/hub-target.ts';

/** Base URL for a package, to which the path is appended. It is never called. */
const packageBaseUrl = 'https://provider.invalid';
/** Key for packages, which require a key. This key is never sent, because `send` adds the credential. */
const packageApiKey = 'none';

export interface Exchange {
  /** Settings for the package. */
  readonly settings: { readonly baseURL: string; readonly apiKey: string; readonly fetch: typeof fetch };
  /** Returns the answer, if its status is a success. */
  readonly answer: () => ReceivedAnswer | undefined;
  readonly failure: () => AttemptFailure | undefined;
  /** Returns why reading or sending broke off. */
  readonly broken: () => { readonly error: unknown } | undefined;
  /** True while nothing was sent. */
  readonly isUnsent: () => boolean;
  /**
   * True if a stream came in place of JSON, or JSON in place of a stream. The package gets the answer when it requests
   * that delivery.
   */
  readonly hasOtherDelivery: () => boolean;
  /** Called when the package has returned a part of the bytes that it got. */
  readonly partEmitted: () => void;
}

interface ExchangeOptions {
  readonly send: ReceivingSend;
  readonly stream: boolean;
  readonly target: HubTarget;
  /**
   * Changes the package's body before it is sent. The package's headers are not sent, so a preview that the headers
   * announce has no effect.
   */
  readonly body: (text: string) => string | TextWithFiles | Promise<string>;
  /** Replaces texts in an answer, or in an event of a stream. */
  readonly takeOut: (text: string) => string;
  /** Returns the answer, if `send` returns none because it is too large. */
  readonly refusedText: () => string | undefined;
  /**
   * Whether others get turns when the package has written its request, and between the steps that make an answer
   * readable.
   */
  readonly isLong: () => boolean;
}

export function createExchange({
  send,
  stream,
  target,
  body,
  takeOut,
  refusedText,
  isLong,
}: ExchangeOptions): Exchange {
  let answer: ReceivedAnswer | undefined;
  let failure: AttemptFailure | undefined;
  let brokenExchange: { readonly error: unknown } | undefined;
  let isUnsent = true;
  let isRead = false;
  let partEmitted = () => {};

  const noteBroken = (error: unknown): void => {
    brokenExchange = { error };
  };
  const rememberBroken = (error: unknown): never => {
    noteBroken(error);
    throw error;
  };
  async function bodyOf(written: string): Promise<string | TextWithFiles> {
    try {
      return await body(written);
    } catch (error) {
      return rememberBroken(error);
    }
  }
  const hasOtherDelivery = () => answer !== undefined && answer.isStream !== stream;

  async function fetchThroughSend(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
    if (isRead) return endOfAnswer(target, answer?.isStream === true);
    const isFirst = isUnsent;
    if (isFirst) await ask(String(url).slice(packageBaseUrl.length), String(init?.body));
    if (answer === undefined || (isFirst && hasOtherDelivery()))
      throw new Error('no answer, or none of the form asked for');
    return read(answer);
  }

  async function ask(path: string, written: string): Promise<void> {
    isUnsent = false;
    if (isLong()) await nextTurn();
    const text = await bodyOf(written);
    if (isLong()) await nextTurn();
    const accept = stream ? target.streamType : 'application/json';
    const result = await send({ path, accept, body: () => text }).catch(rememberBroken);
    if (result.kind === 'failure') failure = result.failure;
    else answer = result;
  }

  async function read(receivedAnswer: ReceivedAnswer): Promise<Response> {
    isRead = true;
    if (receivedAnswer.isStream) {
      const bounded = boundedStream(target.readStream(receivedAnswer.body, takeOut, receivedAnswer.onEnd), noteBroken);
      partEmitted = bounded.partEmitted;
      return new Response(bounded.stream, { headers: { 'content-type': target.streamType } });
    }
    const text = await receivedAnswer.readText().catch(rememberBroken);
    if (isLong()) await nextTurn();
    failure = text === undefined ? refusal(target, refusedText()) : errorIn(text, receivedAnswer.describe);
    if (failure !== undefined) throw new Error('what the provider sent is no answer');
    let answerText = text ?? '';
    for (const step of [takeOut, ...target.answerSteps]) {
      if (isLong()) await nextTurn();
      const readable = step(answerText);
      answerText = typeof readable === 'string' ? readable : await stringifyInTurns(readable);
    }
    if (isLong()) await nextTurn();
    return jsonResponse(answerText);
  }

  return {
    settings: { baseURL: packageBaseUrl, apiKey: packageApiKey, fetch: fetchThroughSend },
    answer: () => answer,
    failure: () => failure,
    broken: () => brokenExchange,
    isUnsent: () => isUnsent,
    hasOtherDelivery,
    partEmitted() {
      partEmitted();
      answer?.onEvent();
    },
  };
}

/** Returns a stream for a package. The package may buffer only a bounded number of bytes before it returns a part. */
function boundedStream(bytes: AsyncIterable<Uint8Array>, onBroken: (error: unknown) => void) {
  const iterator = bytes[Symbol.asyncIterator]();
  let isCancelled = false;
  let bytesWithoutPart = 0;
  let valuesWithoutPart = 0;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        // The packages do not bound events, so their buffered bytes are counted here.
        if (bytesWithoutPart > upstreamEventMaxBytes) throw new RangeError('an event is too large');
        const next = await iterator.next();
        if (isCancelled) return;
        if (next.done === true) {
          controller.close();
          return;
        }
        bytesWithoutPart += next.value.byteLength;
        valuesWithoutPart += valuesIn(next.value);
        if (valuesWithoutPart > jsonValuesMax) throw new RangeError('an event holds too many values');
        controller.enqueue(next.value);
      } catch (error) {
        if (isCancelled) return;
        // The package may have the whole answer by now. If the end of the stream shows that it does not, this error
        // counts.
        onBroken(error);
        controller.close();
      }
    },
    cancel: async () => {
      isCancelled = true;
      await iterator.return?.();
    },
  });
  return {
    stream,
    partEmitted: () => {
      bytesWithoutPart = 0;
      valuesWithoutPart = 0;
    },
  };
}

/** Returns the failure for an answer that is too large, although the provider finished the answer. */
function refusal({ usageIn }: HubTarget, refusedText: string | undefined): AttemptFailure {
  const failure = { kind: 'failed', cause: 'unreadable_answer' } as const;
  if (refusedText === undefined) return failure;
  return { ...failure, unusedAnswer: { usage: usageIn?.(refusedText), outputBytes: refusedText.length } };
}

/**
 * Estimates the number of values. Each value follows a comma or an opening bracket. Commas in text are counted too, but
 * there are fewer of them between two parts.
 */
function valuesIn(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === 0x2c || byte === 0x7b || byte === 0x5b) count += 1;
  return count;
}

function endOfAnswer({ secondCallAnswer: end }: HubTarget, stream: boolean): Response {
  if (end === undefined) throw new Error('a package asked a second time');
  const text = JSON.stringify(end);
  return stream
    ? new Response(`data: ${text}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    : new Response(text, { headers: { 'content-type': 'application/json' } });
}
