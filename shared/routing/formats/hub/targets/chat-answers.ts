// Answers of chat completions as their package can read them: a usage that it takes, chunks that are some, and the end that
// was said.
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { formatsOwnEnd } from '../../../../protocol/hub/index.ts';
import { scanAnswer } from '../../../../protocol/interfaces/index.ts';
import {
  type EventText,
  isEndMarker,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type PlacedRead,
  readEvents,
  readToEnd,
  rewriteMembers,
} from '../../../../protocol/wire/index.ts';
import { type Bytes, eventBytes, parsedObject, read } from './body-members.ts';
import { hasDialect, hasDialectInPieces, openCallIds, usualChoices, usualPieces } from './chat-dialects.ts';
import { chatUsage, readableOpenAiUsage } from './openai-usage.ts';

/** A whole answer. */
export function readableCompletion(text: string): string {
  const json = scanAnswer(text);
  if (json === undefined) return text;
  const usage = readableOpenAiUsage(read(json, 'usage'), chatUsage) ?? null;
  const choices = hasDialect(text) ? { choices: usualChoices(read(json, 'choices')) } : {};
  return rewriteMembers(json, new Map(Object.entries({ ...choices, usage })));
}

/** Only events with one of these are parsed. */
const finalFields = /"usage"\s*:\s*[^n\s]|"finish_reason"\s*:\s*"/;

export async function* chatEvents(bytes: AsyncIterable<Uint8Array>, _takeOut: unknown, endCame: () => void): Bytes {
  let isFinished = false;
  let hasUsage = false;
  /** Set after an event that is no chunk: an end without a finish reason is then no good end. */
  let isGarbled = false;
  const callIds = openCallIds();
  const read = ({ text }: EventText): PlacedRead<readonly string[]> => {
    if (isEndMarker(text)) return { read: isFinished || isGarbled ? [] : [unspokenEnd], place: 'end' };
    const hasOther = hasDialectInPieces(text);
    if (!hasOther && !finalFields.test(text)) {
      if (text.includes('"choices"') || text.includes('"error"')) return { read: [text] };
      isGarbled ||= parsedObject(text) === undefined;
      return { read: [] };
    }
    const parsed = parsedObject(text);
    if (parsed === undefined) return { read: [text] };
    const event: JsonObject = hasOther ? { ...parsed, choices: callIds(usualPieces(parsed.choices), 'delta') } : parsed;
    isFinished ||= hasFinished(event);
    const { x_groq: groq } = event;
    const reported = event.usage ?? (isJsonObject(groq) ? groq.usage : undefined);
    const usage = readableOpenAiUsage(reported, chatUsage) ?? null;
    hasUsage ||= usage !== null;
    return { read: [JSON.stringify({ ...event, choices: choicesOf(event), usage })], isAddition: usage !== null };
  };
  const batches = readEvents(bytes, upstreamEventMaxBytes);
  try {
    // Everything was said at the end, however the connection ends after it; but some servers report the usage there.
    for await (const together of readToEnd(batches, read, { isWanted: () => !hasUsage, endCame })) {
      yield eventBytes(together.flat().map((text) => ({ text })));
    }
  } catch (error) {
    if (!isFinished) throw error;
  }
}

/** End of a stream that ended by its format, without a finish reason. */
const unspokenEnd = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: formatsOwnEnd }], usage: null });

const hasFinished = ({ choices }: JsonObject): boolean =>
  Array.isArray(choices) && choices.some((choice) => isJsonObject(choice) && isEndWord(choice.finish_reason));

/** An empty word is none: its package would take it for an end. */
const choicesOf = ({ choices }: JsonObject): unknown =>
  Array.isArray(choices)
    ? choices.map((choice) =>
        isJsonObject(choice) && !isEndWord(choice.finish_reason) ? { ...choice, finish_reason: null } : choice,
      )
    : (choices ?? []);
