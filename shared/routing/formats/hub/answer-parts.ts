// Reads the parts of an answer, whole or streamed, checked and restored, and the events into which a writer turns them.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { inOneTurn, nextTurn } from '../../../foundation/time/index.ts';
import { type HubPart, oneCallAtATime, partsOfResult, type SourceCall } from '../../../protocol/hub/index.ts';
import type { AttemptFailure } from '../../providers/index.ts';
import { failureOfAnswer, finishFailure, knownEnd } from './failure.ts';
import type { Exchange } from './package-exchange.ts';
import { partsToStop } from './stops.ts';
import type { HubTarget } from './targets/hub-target.ts';

type Parts = AsyncIterable<HubPart> | Iterable<HubPart>;

export interface ReadAttempt {
  readonly model: ReturnType<HubTarget['openModel']>;
  readonly options: LanguageModelV4CallOptions;
  readonly stream: boolean;
  readonly source: SourceCall;
  readonly target: HubTarget;
  readonly exchange: Exchange;
  /** Undoes what we renamed for the package. */
  readonly undoRenames: (part: HubPart) => HubPart;
  /** Stop sequences at which the gateway ends the answer. */
  readonly stops: readonly string[];
}

/** Returns the parts of an answer as a stream, in whichever delivery it came. */
export async function openParts({ model, options, stream, exchange }: ReadAttempt): Promise<Parts> {
  const read = async (asStream: boolean) =>
    asStream ? (await model.doStream(options)).stream : partsOfResult(await model.doGenerate(options));
  try {
    return await read(stream);
  } catch (error) {
    if (!exchange.hasOtherDelivery()) throw error;
    return read(!stream);
  }
}

interface Batch<Event> {
  readonly events: readonly Event[];
  readonly failure?: AttemptFailure;
}

/** Yields the parts. Rejects if the connection breaks before the end; other faults come as the last batch. */
export async function* readParts<Event>(
  packageParts: Parts,
  { exchange, source, target, options, undoRenames, stops }: ReadAttempt,
  write: (part: HubPart) => readonly Event[],
): AsyncGenerator<Batch<Event>, void, undefined> {
  const whole = stops.length === 0 ? packageParts : partsToStop(packageParts, exchange.partEmitted, stops);
  const parts = source.writesOneCallAtATime === true ? partsInOrder(whole, exchange.partEmitted) : whole;
  const isWhole = exchange.answer()?.isStream === false;
  // With stop sequences an empty answer is valid, because the first word may be a stop sequence.
  const mayBeEmpty =
    target.isEmptyAnswerFailure !== true || stops.length > 0 || (options.stopSequences ?? []).length > 0;
  let hasContent = false;
  let hasCalls = false;
  const faultOf = (part: HubPart): AttemptFailure | undefined => {
    if (part.type === 'error') return failureOfAnswer(part.error, describeWith(exchange), 'unreadable_event');
    if (part.type !== 'finish') return undefined;
    return !hasContent && target.isBlockedPrompt?.(part.providerMetadata) === true
      ? blockedPrompt
      : finishFailure(
          part.finishReason,
          isWhole ? 'unreadable_answer' : 'truncated_stream',
          !mayBeEmpty && !hasContent,
        );
  };
  let fault: AttemptFailure = { kind: 'failed', cause: 'truncated_stream' };
  try {
    let read = 0;
    for await (const packagePart of parts) {
      read += 1;
      if (read % inOneTurn.items === 0) await nextTurn();
      exchange.partEmitted();
      hasCalls ||= packagePart.type === 'tool-call';
      const progress = { isWhole, hasContent, hasCalls };
      const part =
        packagePart.type === 'finish'
          ? { ...packagePart, finishReason: knownEnd(packagePart.finishReason, progress) }
          : packagePart;
      const found = faultOf(part);
      if (found !== undefined) {
        fault = found;
        break;
      }
      const events = write(undoRenames(part));
      hasContent ||= events.length > 0;
      if (events.length > 0) yield { events };
      // `drain` reads the events after the end.
      if (part.type === 'finish') return;
    }
  } catch (error) {
    fault = failureOfAnswer(error, describeWith(exchange), 'unreadable_event');
  }
  const brokenCall = exchange.broken();
  if (brokenCall !== undefined) throw brokenCall.error;
  yield { events: [], failure: fault };
}

/** Orders parts for an interface with one call at a time. Several calls may be interleaved. */
async function* partsInOrder(parts: Parts, partEmitted: () => void): AsyncGenerator<HubPart, void, undefined> {
  const inOrder = oneCallAtATime();
  for await (const part of parts) {
    partEmitted();
    for (const ordered of inOrder(part)) yield ordered;
  }
}

const blockedPrompt: AttemptFailure = {
  kind: 'invalid',
  reason: 'content_policy_violation',
  cause: 'blocked_prompt',
};

export const describeWith =
  ({ answer }: Exchange) =>
  (body: unknown) =>
    answer()?.describe(body);
