// The stream a client sees (spec 6, contract 4): chunks unchanged, an error line where it broke, one end marker, last.
// Its body never throws: on Lambda an error inside a body kills the process.
import { errorCatalogue } from '../../../shared/errors/index.ts';
import { doneLine, errorLine, type StreamChunk, toEventLine } from '../../../shared/protocol/wire/index.ts';
import { midStreamCodes } from '../../../shared/routing/providers/index.ts';
import type { OpenStream, StreamEnd } from '../stages.ts';

export interface RelayOptions {
  /** The client asked for the provider's own usage chunk. */
  readonly includeUsage: boolean;
  /** Makes the members of the added usage chunk, for a client that asked for it. */
  readonly mergedUsage: (() => Record<string, unknown>) | undefined;
  /** Called with every chunk of the provider. */
  readonly onChunk?: ((text: string) => void) | undefined;
  /** Runs when the stream is complete, before the end marker: what must be stored before the client knows. */
  readonly onComplete?: ((transcript: string) => Promise<void>) | undefined;
  /** Runs when the stream has broken, before the client knows. Never rejects. */
  readonly onBroken: () => Promise<void>;
}

/** What was seen of a stream while it was relayed. */
export interface RelayedStream {
  /** The last that was reported. */
  usage: Record<string, unknown> | undefined;
  outputBytes: number;
  /** Of them what came after that report, and is not in it. */
  outputBytesAfterUsage: number;
  /** Of them what came after the last report of more than nothing: some providers send zeros until the last chunk. */
  outputBytesAfterCount: number;
  end: StreamEnd;
}

export interface StreamRelay {
  readonly body: AsyncGenerator<string, void, undefined>;
  /** So far; final when the body has ended. */
  readonly relayed: Readonly<RelayedStream>;
}

export function relayStream(stream: OpenStream, options: RelayOptions): StreamRelay {
  const relayed: RelayedStream = {
    usage: undefined,
    outputBytes: 0,
    outputBytesAfterUsage: 0,
    outputBytesAfterCount: 0,
    end: undefined,
  };
  return { body: relay(stream, relayed, options), relayed };
}

async function* relay(
  stream: OpenStream,
  relayed: RelayedStream,
  options: RelayOptions,
): AsyncGenerator<string, void, undefined> {
  const sent: string[] = [];
  const send = (lines: string): string => {
    if (options.onComplete !== undefined) sent.push(lines);
    return lines;
  };
  let head: Record<string, unknown> = {};
  const relayChunks = (chunks: readonly StreamChunk[]): string => {
    let lines = '';
    for (const chunk of chunks) {
      const { text, facts } = chunk;
      head = chunk.head;
      count(relayed, facts);
      options.onChunk?.(text);
      if (!facts.isUsageOnly || options.includeUsage) lines += toEventLine(text);
    }
    return send(lines);
  };
  try {
    yield relayChunks(stream.opening);
    for await (const chunks of stream.rest) {
      const lines = relayChunks(chunks);
      if (lines !== '') yield lines;
    }
    relayed.end = 'complete';
    if (options.mergedUsage !== undefined) yield send(usageLine(head, options.mergedUsage()));
    await options.onComplete?.(sent.join('') + doneLine);
  } catch (error) {
    const failure = stream.failureOf(error);
    relayed.end = failure;
    const code = midStreamCodes[failure.kind];
    await options.onBroken();
    yield errorLine(code, errorCatalogue[code].message);
  } finally {
    // Also when the client left and the body is not read on.
    stream.abort();
  }
  yield doneLine;
}

function count(relayed: RelayedStream, { outputBytes, usage }: StreamChunk['facts']): void {
  const countsOutput = Number(usage?.completion_tokens) > 0;
  relayed.outputBytes += outputBytes;
  relayed.outputBytesAfterUsage = usage === undefined ? relayed.outputBytesAfterUsage + outputBytes : 0;
  relayed.outputBytesAfterCount = countsOutput ? 0 : relayed.outputBytesAfterCount + outputBytes;
  relayed.usage = usage ?? relayed.usage;
}

/** A chunk of ours: the head of the provider's last one, no choice, the merged usage. */
export function usageLine({ id, created, model }: Record<string, unknown>, usage: Record<string, unknown>): string {
  return toEventLine(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage }));
}
