// Some packages refuse an answer that does not say what it used. Such an answer is estimated like any other: it gets counts
// that are none, which the reader of usage drops.
import { upstreamEventMaxBytes } from '../../../foundation/constants/index.ts';
import { type EventText, isJsonObject, readEvents, toEventLine } from '../../../protocol/wire/index.ts';
import type { TranslatedApi } from './translated-api.ts';

type Json = Record<string, unknown>;

const noCount = -1;
const placeholders: Partial<Readonly<Record<TranslatedApi, Json>>> = {
  messages: { input_tokens: noCount, output_tokens: noCount },
  converse: { inputTokens: noCount, outputTokens: noCount, totalTokens: noCount },
};

/** Of a JSON answer, which is an object: what it says itself stands behind, so it counts. */
export function withUsage(text: string, api: TranslatedApi): string {
  const usage = placeholders[api];
  if (usage === undefined || text.includes('"usage"')) return text;
  const members = text.slice(text.indexOf('{') + 1).trimStart();
  return `{"usage":${JSON.stringify(usage)}${members.startsWith('}') ? '' : ','}${members}`;
}

/** Of a stream: Anthropic's events tell it at the start and at the end, where the others' may be left out. */
export async function* streamWithUsage(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const events of readEvents(bytes, upstreamEventMaxBytes)) {
    yield Buffer.from(events.map((event) => toEventLine(eventWithUsage(event), event.name)).join(''));
  }
}

function eventWithUsage({ text }: EventText): string {
  if (text.includes('"usage"') || !/"message_(start|delta)"/.test(text)) return text;
  const usage = placeholders.messages;
  return changed(text, ({ message, ...event }) =>
    isJsonObject(message) ? { ...event, message: { usage, ...message } } : { usage, ...event },
  );
}

function changed(text: string, change: (value: Json) => Json): string {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? JSON.stringify(change(value)) : text;
  } catch {
    return text;
  }
}
