// Answers of chat completions as their package can read them: a usage that it takes, chunks that are some, and the end that
// was said.
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { scanAnswer } from '../../../../protocol/interfaces/index.ts';
import { isEndWord, isJsonObject, readEvents, rewriteMembers } from '../../../../protocol/wire/index.ts';
import { formatsOwnEnd } from '../middle/index.ts';
import { type Bytes, eventBytes, type Json, parsedObject, read } from './body-members.ts';
import { hasDialect, hasDialectInPieces, usualChoices, usualPieces } from './chat-dialects.ts';
import { chatUsage, readableOpenAiUsage } from './openai-usage.ts';

/** A whole answer. */
export function readableCompletion(text: string): string {
  const json = scanAnswer(text);
  if (json === undefined) return text;
  const usage = readableOpenAiUsage(read(json, 'usage'), chatUsage) ?? null;
  const choices = hasDialect(text) ? { choices: usualChoices(read(json, 'choices')) } : {};
  return rewriteMembers(json, new Map(Object.entries({ ...choices, usage })));
}

const endMark = '[DONE]';
/** Of the events only those with one of these are looked into. */
const said = /"usage"\s*:\s*[^n\s]|"finish_reason"\s*:\s*"/;

export async function* chatEvents(bytes: AsyncIterable<Uint8Array>, _takeOut: unknown, endCame: () => void): Bytes {
  let isFinished = false;
  let hasUsage = false;
  let isEnded = false;
  /** Something came that is no chunk: what is behind it is no good end without a word. */
  let isGarbled = false;
  const readable = (text: string): string[] => {
    if (text === endMark && !isEnded) {
      isEnded = true;
      if (!hasUsage) endCame();
    }
    if (text === endMark) return isFinished || isGarbled ? [] : [unspokenEnd];
    const hasOther = hasDialectInPieces(text);
    if (!hasOther && !said.test(text)) {
      if (text.includes('"choices"') || text.includes('"error"')) return [text];
      isGarbled ||= parsedObject(text) === undefined;
      return [];
    }
    const parsed = parsedObject(text);
    if (parsed === undefined) return [text];
    const event: Json = hasOther ? { ...parsed, choices: usualPieces(parsed.choices) } : parsed;
    isFinished ||= hasFinished(event);
    const { x_groq: own } = event;
    const reported = event.usage ?? (isJsonObject(own) ? own.usage : undefined);
    const usage = readableOpenAiUsage(reported, chatUsage) ?? null;
    hasUsage ||= usage !== null;
    return [JSON.stringify({ ...event, choices: choicesOf(event), usage })];
  };
  try {
    for await (const events of readEvents(bytes, upstreamEventMaxBytes)) {
      yield eventBytes(events.flatMap(({ text }) => readable(text)).map((text) => ({ text })));
      // However the connection ends then, everything was said; but some servers tell what was used behind it.
      if (isEnded && hasUsage) return;
    }
  } catch (error) {
    if (!isFinished && !isEnded) throw error;
  }
}

/** Of a stream that said its own end, and no other. */
const unspokenEnd = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: formatsOwnEnd }], usage: null });

const hasFinished = ({ choices }: Json): boolean =>
  Array.isArray(choices) && choices.some((choice) => isJsonObject(choice) && isEndWord(choice.finish_reason));

/** An empty word is none: its package would take it for an end. */
const choicesOf = ({ choices }: Json): unknown =>
  Array.isArray(choices)
    ? choices.map((choice) =>
        isJsonObject(choice) && !isEndWord(choice.finish_reason) ? { ...choice, finish_reason: null } : choice,
      )
    : (choices ?? []);
