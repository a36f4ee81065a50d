// Holds a stream back until its first real output: until then its failure is an ordinary failure and the next candidate
// may answer. The 200 goes to the client only with what this returns.
import { heldBackMaxBytes } from '../../../shared/foundation/constants/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/interfaces/index.ts';
import type { EventStream } from '../../../shared/routing/formats/index.ts';
import { type AttemptFailure, StreamBroken, type Watch } from '../../../shared/routing/providers/index.ts';
import type { OpenStream } from '../stages.ts';

export interface Opening {
  /** The first output is there. */
  readonly onOutput: () => void;
  /** So is something beside the thinking of the model, during which a provider may say nothing for long. */
  readonly onAnswer: () => void;
}

/** Throws StreamBroken where the stream fails, or ends, before its first output. */
export async function openStream(
  { batches, drain }: EventStream,
  watch: Watch,
  { onOutput, onAnswer }: Opening,
): Promise<OpenStream> {
  const opening = await readOpening(batches);
  onOutput();
  const isAnswering = opening.some(isAnswer);
  if (isAnswering) onAnswer();
  return {
    opening,
    rest: isAnswering ? batches : noticeAnswer(batches, onAnswer),
    release() {
      watch.release();
      // The end marker came, the end of the body not yet: a socket that is read to its end serves the next call.
      drain();
    },
    failureOf: (error) => readBrokenStream(error, watch),
    abort: watch.abort,
  };
}

const isAnswer = ({ facts }: AnswerEvent): boolean => facts.hasOutput && facts.isOnlyThinking !== true;

async function* noticeAnswer(
  batches: EventStream['batches'],
  onAnswer: () => void,
): AsyncGenerator<AnswerEvent[], void, undefined> {
  let isAnswering = false;
  for await (const batch of batches) {
    if (!isAnswering && batch.some(isAnswer)) {
      isAnswering = true;
      onAnswer();
    }
    yield batch;
  }
}

async function readOpening(batches: AsyncIterator<AnswerEvent[]>): Promise<AnswerEvent[]> {
  const held: AnswerEvent[] = [];
  let heldBytes = 0;
  while (heldBytes <= heldBackMaxBytes) {
    const next = await batches.next();
    if (next.done === true) throw new StreamBroken({ kind: 'failed', cause: 'no_output' });
    held.push(...next.value);
    if (next.value.some(({ facts }) => facts.hasOutput)) return held;
    heldBytes += next.value.reduce((sum, { text }) => sum + text.length, 0);
  }
  throw new StreamBroken({ kind: 'failed', cause: 'endless_preamble' });
}

/** Any error of reading a provider, as data. */
export function readBrokenStream(error: unknown, watch: Watch): AttemptFailure {
  if (error instanceof StreamBroken) return error.failure;
  const endedBy = watch.endedBy();
  // A step of a workflow that is not needed any more is as good as a client that left.
  if (endedBy === 'client_gone' || endedBy === 'stopped') return { kind: 'client_gone', cause: endedBy };
  // One word for every kind of silence: the code of the call says which limit it was.
  if (endedBy !== undefined) return { kind: endedBy === 'deadline' ? endedBy : 'failed', cause: 'timeout' };
  return { kind: 'failed', cause: error instanceof RangeError ? 'event_too_large' : 'connection' };
}
