// Reads the events of a stored response for a key with guardrails, checks them in windows, and writes them again.
import { upstreamEventMaxBytes } from '../../../shared/foundation/constants/index.ts';
import type { BodyPart } from '../../../shared/protocol/http/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { readEvents, toEventLine } from '../../../shared/protocol/wire/index.ts';
import {
  type AttemptFailure,
  type CandidateAnswer,
  midStreamCodeOf,
  readStream,
} from '../../../shared/routing/providers/index.ts';
import { type GuardDecision, type Passed, passStream } from '../exit/exit.ts';
import type { OpenStream } from '../provider-call.ts';
import { brokenLine, type RelayedEvents, sequenceNumberIn } from './relay-events.ts';

interface Reading {
  readonly failureOf: (error: unknown) => AttemptFailure;
  readonly abort: () => void;
}

export interface PassedEvents extends RelayedEvents {
  readonly passed: Passed<object>;
}

/** Returns the checked events. Throws an error if nothing of the response may leave. */
export async function guardedEvents(
  { body, describe, onEvent, onEnd, drain }: CandidateAnswer,
  decision: GuardDecision,
  { failureOf, abort }: Reading,
): Promise<PassedEvents> {
  const source = { describe, onEvent, onEnd };
  const rest = readStream(readEvents(body, upstreamEventMaxBytes), responses.openEventReader(1), source);
  const passed = await passStream(decision, { opening: [], rest, finish: drain, failureOf, abort }, 1);
  if (passed.refusal !== undefined) throw passed.refusal;
  let sequenceNumber = -1;
  const brokenLineOf: RelayedEvents['broken'] = (code) => brokenLine(sequenceNumber, code);
  const lineOf = ({ name, text }: OpenStream['opening'][number]): string => {
    sequenceNumber = sequenceNumberIn(text) ?? sequenceNumber;
    return toEventLine(text, name);
  };

  async function* lines(): AsyncGenerator<BodyPart, void, undefined> {
    try {
      for await (const { events, failure } of passed.rest) {
        if (events.length > 0) yield { text: events.map(lineOf).join(''), isEnd: false };
        if (failure === undefined) continue;
        yield { text: brokenLineOf(midStreamCodeOf[failure.kind]), isEnd: true };
        return;
      }
      yield { text: '', isEnd: true };
    } catch (error) {
      yield { text: brokenLineOf(midStreamCodeOf[failureOf(error).kind]), isEnd: true };
    } finally {
      abort();
    }
  }
  return { passed, parts: lines(), broken: brokenLineOf };
}
