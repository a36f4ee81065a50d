// The stream a client sees: chunks unchanged, an error line where it broke, one end marker, last.
// Its body never throws: on Lambda an error inside a body kills the process.
import { collectedStreamMaxBytes } from '../../../shared/foundation/constants/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import {
  brokenStreamEnd,
  doneLine,
  type StreamChunk,
  withoutReasoningDeltas,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { hasCounts, toEventLine, type UsageReport } from '../../../shared/protocol/wire/index.ts';
import { midStreamCodeOf } from '../../../shared/routing/providers/index.ts';
import type { IdentifiedCall, OpenStream, StreamEnd } from '../stages.ts';
import { withKeepAlive } from './keep-alive.ts';
import type { StreamSchemaCheck } from './stream-schema-check.ts';

export interface RelayOptions {
  readonly clock: Clock;
  /** The client asked for the provider's own usage chunk. */
  readonly includeUsage: boolean;
  /** `reasoning.exclude`: the client sees no reasoning. */
  readonly excludeReasoning: boolean;
  /** The client gets a usage chunk of ours in its place. */
  readonly asksMergedUsage: boolean;
  /** Makes the members of a usage chunk of ours. */
  readonly mergedUsage: () => Record<string, unknown>;
  /** Called with every chunk of the provider. */
  readonly onChunk?: ((text: string) => void) | undefined;
  /** Runs when the stream is complete, before the end marker: what must be stored before the client knows. */
  readonly onComplete?: ((transcript: string) => Promise<void>) | undefined;
  /** Runs when the stream has broken, before the client knows. Never rejects. */
  readonly onBroken: () => Promise<void>;
  /** Holds the whole answer against its schema. Undefined: there is none. */
  readonly schemaCheck: StreamSchemaCheck | undefined;
  /** False where nothing follows an error line. */
  readonly endsBrokenStreamWithDone: boolean;
}

/** What was seen of a stream while it was relayed. */
export interface RelayedStream {
  /** The last that was reported. */
  usage: UsageReport | undefined;
  outputBytes: number;
  /** Of them what came after that report, and is not in it. */
  outputBytesAfterUsage: number;
  /** Of them what came after the last report of more than nothing: some providers send zeros until the last chunk. */
  outputBytesAfterCount: number;
  end: StreamEnd;
}

export interface StreamRelay {
  readonly body: AsyncIterable<string>;
  /** So far; final when `readOn` has resolved. */
  readonly relayed: Readonly<RelayedStream>;
  /** Reads what the client did not: it left, and pays for what it used. Never rejects. */
  readonly readOn: () => Promise<void>;
}

export function relayStream(stream: OpenStream, options: RelayOptions): StreamRelay {
  const relayed: RelayedStream = {
    usage: undefined,
    outputBytes: 0,
    outputBytesAfterUsage: 0,
    outputBytesAfterCount: 0,
    end: undefined,
  };
  const lines = relay(stream, relayed, options);
  const next = withKeepAlive(options.clock, lines);
  return {
    // Without `return` of the generator: a reader that leaves must not end it.
    body: { [Symbol.asyncIterator]: () => ({ next, return: async () => ended }) },
    relayed,
    async readOn() {
      for await (const _lines of lines);
    },
  };
}

/**
 * Whether the client gets our merged usage: it asked for it, or for usage at all on the base URL whose clients know no
 * other way to ask.
 */
export const asksMergedUsage = ({
  request: { includeUsage, includeMergedUsage },
  scope: { conventions },
}: Pick<IdentifiedCall, 'request' | 'scope'>): boolean =>
  includeMergedUsage || (includeUsage && conventions.mergesUsageChunk);

const ended = { done: true, value: undefined } as const;

async function* relay(
  stream: OpenStream,
  relayed: RelayedStream,
  options: RelayOptions,
): AsyncGenerator<string, void, undefined> {
  const transcript = collectText();
  const send = (lines: string): string => {
    if (options.onComplete !== undefined) transcript.add(lines);
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
      options.schemaCheck?.add(chunk.json);
      // With the merged usage too, only that one: clients add up what they see.
      const isRelayed = !facts.isUsageOnly || (options.includeUsage && !options.asksMergedUsage);
      if (isRelayed) lines += chunkLine(chunk, options.excludeReasoning);
    }
    return send(lines);
  };
  try {
    const opening = relayChunks(stream.opening);
    if (opening !== '') yield opening;
    for await (const chunks of stream.rest) {
      const lines = relayChunks(chunks);
      if (lines !== '') yield lines;
    }
    if ((await options.schemaCheck?.isSatisfied()) === false) {
      relayed.end = 'schema_mismatch';
      await options.onBroken();
      yield brokenStreamEnd('schema_validation_failed', options.endsBrokenStreamWithDone);
      return;
    }
    relayed.end = 'complete';
    if (addsUsage(options, relayed.usage)) yield send(usageLine(head, options.mergedUsage()));
    const text = transcript.text();
    if (text !== undefined) await options.onComplete?.(text + doneLine);
  } catch (error) {
    const failure = stream.failureOf(error);
    relayed.end = failure;
    await options.onBroken();
    yield brokenStreamEnd(midStreamCodeOf[failure.kind], options.endsBrokenStreamWithDone);
    return;
  } finally {
    stream.abort();
  }
  yield doneLine;
}

/** Collects up to `collectedStreamMaxBytes`; beyond it there is no text. */
function collectText(): { readonly add: (lines: string) => void; readonly text: () => string | undefined } {
  let parts: string[] = [];
  let length = 0;
  return {
    add(lines) {
      length += lines.length;
      if (length > collectedStreamMaxBytes) parts = [];
      else parts.push(lines);
    },
    text: () => (length > collectedStreamMaxBytes ? undefined : parts.join('')),
  };
}

function count(relayed: RelayedStream, { outputBytes, usage: reported }: StreamChunk['facts']): void {
  // A report without counts never replaces one with counts.
  const usage = reported !== undefined && (relayed.usage === undefined || hasCounts(reported)) ? reported : undefined;
  const countsOutput = (usage?.tokens.output ?? 0) > 0;
  relayed.outputBytes += outputBytes;
  relayed.outputBytesAfterUsage = usage === undefined ? relayed.outputBytesAfterUsage + outputBytes : 0;
  relayed.outputBytesAfterCount = countsOutput ? 0 : relayed.outputBytesAfterCount + outputBytes;
  relayed.usage = usage ?? relayed.usage;
}

/** Empty: nothing of the chunk is left for this client. */
export function chunkLine(chunk: StreamChunk, excludeReasoning: boolean): string {
  const text = excludeReasoning ? withoutReasoningDeltas(chunk) : chunk.text;
  return text === undefined ? '' : toEventLine(text);
}

/** Whether a stream ends with a usage chunk of ours: asked for, or in place of the one that the provider did not send. */
export const addsUsage = (
  { includeUsage, asksMergedUsage }: Pick<RelayOptions, 'includeUsage' | 'asksMergedUsage'>,
  reported: UsageReport | undefined,
): boolean => asksMergedUsage || (includeUsage && (reported === undefined || !hasCounts(reported)));

/** A chunk of ours: the head of the provider's last one, no choice, the merged usage. */
export function usageLine({ id, created, model }: Record<string, unknown>, usage: Record<string, unknown>): string {
  return toEventLine(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage }));
}
