// The stream a client sees (spec 6, contract 4): chunks unchanged, an error line where it broke, one end marker, last.
// This generator never throws: on Lambda an error inside a body kills the process.
import { errorCatalogue } from '../../../shared/errors/index.ts';
import { doneLine, errorLine, type StreamChunk, toEventLine } from '../../../shared/protocol/wire/index.ts';
import { midStreamCodes } from '../mid-stream-codes.ts';
import type { OpenStream, StreamTally } from '../stages.ts';

export interface StreamWishes {
  /** The client asked for the provider's own usage chunk. */
  readonly includeUsage: boolean;
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
    for (const { text, facts, head: chunkHead } of chunks) {
      head = chunkHead;
      tally.outputBytes += facts.outputBytes;
      tally.outputBytesAfterUsage = facts.usage === undefined ? tally.outputBytesAfterUsage + facts.outputBytes : 0;
      tally.outputBytesAfterCount = countsOutput(facts.usage) ? 0 : tally.outputBytesAfterCount + facts.outputBytes;
      tally.usage = facts.usage ?? tally.usage;
      wishes.onChunk?.(text);
      if (!facts.isUsageOnly || wishes.includeUsage) lines += toEventLine(text);
    }
    return keep(lines);
  };
  try {
    yield relay(stream.opening);
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
    const code = midStreamCodes[failure.kind];
    await wishes.onBroken();
    yield errorLine(code, errorCatalogue[code].message);
  } finally {
    // Also when the client left and nobody reads on.
    stream.abort();
  }
  yield doneLine;
}

const countsOutput = (usage: Record<string, unknown> | undefined): boolean => Number(usage?.completion_tokens) > 0;

/** A chunk of ours: the head of the provider's last one, no choice, the merged usage. */
export function usageLine({ id, created, model }: Record<string, unknown>, usage: Record<string, unknown>): string {
  return toEventLine(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage }));
}
