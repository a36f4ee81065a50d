// Converts a whole answer to the parts of a stream, so that one writer serves whole answers and streams.
import type { LanguageModelV4Content } from '@ai-sdk/provider';
import type { HubPart, HubResult } from './hub-call.ts';

export function* partsOfResult(result: HubResult): Generator<HubPart> {
  const { response: { id, modelId } = {}, usage, finishReason, providerMetadata } = result;
  yield { type: 'response-metadata', ...(id && { id }), ...(modelId && { modelId }) };
  for (const [index, part] of withFinalText(result).entries()) yield* partsOf(part, index);
  yield { type: 'finish', usage, finishReason, ...(providerMetadata && { providerMetadata }) };
}

/** Reduces the content to requested JSON, which is the only text, whatever else the model wrote. */
function withFinalText({ content, structuredOutputText: json }: HubResult): HubResult['content'] {
  if (json === undefined) return content;
  const last = content.findLastIndex(({ type }) => type === 'text');
  return content.flatMap((part, index): HubResult['content'] => {
    if (part.type !== 'text') return [part];
    return index === last ? [{ ...part, text: json }] : [];
  });
}

/**
 * Returns the parts of one content. Metadata of a text is sent when it starts, and repeated with its piece, as packages
 * do.
 */
function partsOf(part: LanguageModelV4Content, index: number): readonly HubPart[] {
  if (part.type !== 'text' && part.type !== 'reasoning') return [part];
  const { type, text: delta, providerMetadata } = part;
  const id = `content ${index}`;
  const about = { id, ...(providerMetadata && { providerMetadata }) };
  const start: HubPart = { type: `${type}-start`, ...(type === 'text' || delta === '' ? about : { id }) };
  const pieces: HubPart[] = delta === '' ? [] : [{ type: `${type}-delta`, delta, ...about }];
  return [start, ...pieces, { type: `${type}-end`, id }];
}

/** Opens a writer for one stream, which returns the events of each part. */
export function eventsByPart<Event>(
  open: (add: (event: Event) => void) => (part: HubPart) => void,
): (part: HubPart) => Event[] {
  let events: Event[] = [];
  const write = open((event) => events.push(event));
  return (part) => {
    events = [];
    write(part);
    return events;
  };
}
