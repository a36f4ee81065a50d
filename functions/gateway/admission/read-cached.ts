// An answer from the cache, read like one of a provider.
import type { CachedAnswer, KeptEvents } from '../../../shared/accounting/response-cache/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/interfaces/index.ts';
import type { EventText } from '../../../shared/protocol/wire/index.ts';
import type { ReadCachedContent, RoutedCall } from '../stages.ts';

/** Undefined: this release cannot read what another one has stored, so it counts as not there. */
export async function readCached(
  { clientInterface, size }: RoutedCall,
  { content }: CachedAnswer,
): Promise<ReadCachedContent | undefined> {
  if (content.kind === 'json') {
    const read = await clientInterface.readAnswer(content.text);
    return read.kind === 'answer' ? { kind: 'json', answer: read.answer } : undefined;
  }
  const reader = clientInterface.openEventReader(size.choices);
  const events: AnswerEvent[] = [];
  for (const text of eventTextsOf(content.chunks)) {
    const reading = reader.read(text);
    if (reading.kind !== 'event') return undefined;
    events.push(reading.event);
  }
  return { kind: 'stream', events };
}

const eventTextsOf = (kept: KeptEvents): EventText[] =>
  kept.map((event) => (typeof event === 'string' ? { text: event } : { name: event[0], text: event[1] }));
