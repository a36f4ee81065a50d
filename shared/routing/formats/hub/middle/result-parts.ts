// A whole answer as the parts of a stream, so that what writes streams writes it too.
import type { LanguageModelV4Content } from '@ai-sdk/provider';
import type { HubPart, HubResult } from './hub-call.ts';

/** Parts of an answer that are written within a few milliseconds. */
const turnMaxParts = 512;

/** Gives a writer each part of an answer. */
export async function writeResult(
  result: HubResult,
  write: (part: HubPart) => void,
  nextStep: () => Promise<void>,
): Promise<void> {
  const { response: { id, modelId } = {}, usage, finishReason, providerMetadata } = result;
  write({ type: 'response-metadata', ...(id && { id }), ...(modelId && { modelId }) });
  for (const [index, part] of withFinalText(result).entries()) {
    for (const one of partsOf(part, index)) write(one);
    if ((index + 1) % turnMaxParts === 0) await nextStep();
  }
  write({ type: 'finish', usage, finishReason, ...(providerMetadata && { providerMetadata }) });
}

/** JSON that was asked for stands alone, whatever the model said on its way. */
function withFinalText({ content, structuredOutputText: json }: HubResult): HubResult['content'] {
  if (json === undefined) return content;
  const last = content.findLastIndex(({ type }) => type === 'text');
  return content.flatMap((part, index): HubResult['content'] => {
    if (part.type !== 'text') return [part];
    return index === last ? [{ ...part, text: json }] : [];
  });
}

/** What belongs to a text is known when it starts, and is told again with its piece, as packages do. */
function partsOf(part: LanguageModelV4Content, index: number): readonly HubPart[] {
  if (part.type !== 'text' && part.type !== 'reasoning') return [part];
  const { type, text: delta, providerMetadata } = part;
  const id = `content ${index}`;
  const about = { id, ...(providerMetadata && { providerMetadata }) };
  const start: HubPart = { type: `${type}-start`, ...(type === 'text' || delta === '' ? about : { id }) };
  const pieces: HubPart[] = delta === '' ? [] : [{ type: `${type}-delta`, delta, ...about }];
  return [start, ...pieces, { type: `${type}-end`, id }];
}

/** For one stream: the events that each part brings. */
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
