// A stream of Messages as its package can read it: events bounded, without what is new to the package, with a usage that it
// takes, and with the end that was said.
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { type EventText, isJsonObject, readEvents } from '../../../../protocol/wire/index.ts';
import { type Bytes, eventBytes } from './event-bytes.ts';
import { readableUsage, type UsageForm } from './readable-usage.ts';

type Json = Readonly<Record<string, unknown>>;

const cacheCounts = ['cache_creation_input_tokens', 'cache_read_input_tokens'];

/** Of a whole answer. */
export const messageUsage: UsageForm = {
  member: 'usage',
  required: ['input_tokens', 'output_tokens'],
  counts: cacheCounts,
  isWanted: true,
};

/** Anthropic may add events at any time: the package knows these. */
const knownEvents = /"type"\s*:\s*"(message_|content_block_|error|ping)/;
const usageEvents = /"type"\s*:\s*"message_(start|delta)"/;

export async function* anthropicEvents(bytes: AsyncIterable<Uint8Array>): Bytes {
  let isFinished = false;
  let isEnded = false;
  const read = ({ name, text }: EventText): EventText[] => {
    if (!knownEvents.test(text)) return isEventObject(text) ? [] : [{ name, text }];
    isEnded ||= text.includes('"message_stop"');
    if (!usageEvents.test(text)) return [{ name, text }];
    const event = parsed(text);
    if (event === undefined) return [{ name, text }];
    isFinished ||= isJsonObject(event.delta) && typeof event.delta.stop_reason === 'string';
    return [{ name, text: JSON.stringify(withReadableEventUsage(event)) }];
  };
  try {
    for await (const events of readEvents(bytes, upstreamEventMaxBytes)) yield eventBytes(events.flatMap(read));
  } catch (error) {
    // However the connection ends then, everything was said.
    if (!isFinished) throw error;
  }
  if (isFinished && !isEnded) yield eventBytes([{ name: 'message_stop', text: '{"type":"message_stop"}' }]);
}

const isEventObject = (text: string): boolean => typeof parsed(text)?.type === 'string';

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Anthropic's events tell the input at the start, and the output at the end. */
function withReadableEventUsage(event: Json): Json {
  const { type, message, usage } = event;
  if (type === 'message_start' && isJsonObject(message)) {
    const read = readableUsage(message.usage, { required: ['input_tokens'], counts: cacheCounts });
    return { ...event, message: { ...message, usage: read } };
  }
  const form = { required: ['output_tokens'], counts: ['input_tokens', ...cacheCounts] };
  return type === 'message_delta' ? { ...event, usage: readableUsage(usage, form) } : event;
}
