// The stream a client sees (spec 6, contract 4): chunks unchanged, an error line where it broke, one end marker, last.
// This generator never throws: on Lambda an error inside a body kills the process.
import {
  doneLine,
  errorLine,
  type StreamChunk,
  toEventLine,
  withoutReasoningDeltas,
} from '../../../shared/protocol/wire/index.ts';
import { midStreamCodes } from '../mid-stream-codes.ts';
import type { OpenStream, StreamTally } from '../stages.ts';

export interface StreamWishes {
  /** The client asked for the provider's own usage chunk. */
  readonly includeUsage: boolean;
  /** `reasoning.exclude`: the client sees no reasoning. */
  readonly excludeReasoning: boolean;
  /** Makes the members of the added usage chunk, for a client that asked for it. */
  readonly mergedUsage: (() => Record<string, unknown>) | undefined;
  /** Hears every chunk of the provider. */
  readonly onChunk?: ((text: string) => void) | undefined;
  /** Runs when the stream is complete, before the end marker: what must be kept before the client knows. */
  readonly onComplete?: ((transcript: () => string) => Promise<void>) | undefined;
  /** Runs when the stream has broken, before the client knows. Never rejects. */
  readonly onBroken: () => Promise<void>;
}

export async function* relayStream(
  stream: OpenStream,
  tally: StreamTally,
  wishes: StreamWishes,
): AsyncGenerator<string, void, undefined> {
  const sent: string[] = [];
  const keep = (lines: string): string => {
    if (wishes.onComplete !== undefined) sent.push(lines);
    return lines;
  };
  let head: Record<string, unknown> = {};
  const relay = (chunks: readonly StreamChunk[]): string => {
    let lines = '';
    for (const chunk of chunks) {
      const { text, facts, head: chunkHead } = chunk;
      head = chunkHead;
      tally.outputBytes += facts.outputBytes;
      tally.outputBytesAfterUsage = facts.usage === undefined ? tally.outputBytesAfterUsage + facts.outputBytes : 0;
      tally.outputBytesAfterCount = countsOutput(facts.usage) ? 0 : tally.outputBytesAfterCount + facts.outputBytes;
      tally.usage = facts.usage ?? tally.usage;
      wishes.onChunk?.(text);
      if (!facts.isUsageOnly || wishes.includeUsage) lines += chunkLine(chunk, wishes.excludeReasoning);
    }
    return keep(lines);
  };
  try {
    const opening = relay(stream.opening);
    if (opening !== '') yield opening;
    for await (const chunks of stream.rest) {
      const lines = relay(chunks);
      if (lines !== '') yield lines;
    }
    tally.end = 'complete';
    if (wishes.mergedUsage !== undefined) yield keep(usageLine(head, wishes.mergedUsage()));
    await wishes.onComplete?.(() => sent.join('') + doneLine);
  } catch (error) {
    const failure = stream.failureOf(error);
    tally.end = failure;
    await wishes.onBroken();
    yield errorLine(midStreamCodes[failure.kind]);
  } finally {
    // Also when the client left and nobody reads on.
    stream.abort();
  }
  yield doneLine;
}

/** Empty: nothing of the chunk is left for this client. */
export function chunkLine(chunk: StreamChunk, excludeReasoning: boolean): string {
  const text = excludeReasoning ? withoutReasoningDeltas(chunk) : chunk.text;
  return text === undefined ? '' : toEventLine(text);
}

const countsOutput = (usage: Record<string, unknown> | undefined): boolean => Number(usage?.completion_tokens) > 0;

/** A chunk of ours: the head of the provider's last one, no choice, the merged usage. */
export function usageLine({ id, created, model }: Record<string, unknown>, usage: Record<string, unknown>): string {
  return toEventLine(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage }));
}
