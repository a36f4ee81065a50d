// Kept bodies as OpenTelemetry's conventions for generative AI write messages (gen_ai.input.messages and
// gen_ai.output.messages, JSON texts), cut to what a span may hold.
import type { Attributes } from '../../../shared/foundation/telemetry/index.ts';
import {
  type ConversationPart,
  type ConversationTurn,
  readAnswerTurns,
  readRequestTurns,
  type TurnsOfBodies,
} from '../../../shared/protocol/conversation/index.ts';
import type { ContentBodies } from '../stages.ts';

/** Of one attribute: up to 4,096 spans wait to be sent. */
const attributeMaxCharacters = 32 * 1024;
/** Characters of a text, tried in turn until all of them fit. */
const textLimits = [attributeMaxCharacters, 4_096, 512];

/** Returns no attributes for a body that is no conversation. */
export const messageAttributes = (
  turns: TurnsOfBodies | undefined,
  { request, answer }: ContentBodies,
): Attributes => ({
  'gen_ai.input.messages': written(readRequestTurns(turns, request), messageOf),
  'gen_ai.output.messages': written(answer === null ? undefined : readAnswerTurns(turns, answer.body), outputOf),
});

type WriteTurn = (turn: ConversationTurn, textMax: number) => object;

/** Undefined where there is nothing, or it fits in no way. */
function written(turns: readonly ConversationTurn[] | undefined, write: WriteTurn): string | undefined {
  if (turns === undefined) return undefined;
  const texts = textLimits.map((textMax) => () => JSON.stringify(turns.map((turn) => write(turn, textMax))));
  for (const text of texts) {
    const json = text();
    if (json.length <= attributeMaxCharacters) return json;
  }
  return undefined;
}

const messageOf: WriteTurn = ({ role, parts }, textMax) => ({
  role,
  parts: parts.map((part) => partOf(part, textMax)),
});

const outputOf: WriteTurn = (turn, textMax) => ({
  ...messageOf(turn, textMax),
  // A stream that broke has none.
  finish_reason: finishReasons[turn.finishReason ?? ''] ?? turn.finishReason ?? 'error',
});

/** Words of the interfaces in those of the conventions, where they differ. */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  completed: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  incomplete: 'length',
  tool_calls: 'tool_call',
  tool_use: 'tool_call',
  refusal: 'content_filter',
};

function partOf(part: ConversationPart, textMax: number): object {
  if (part.kind === 'image') return imageOf(part.url, textMax);
  const text = part.text.slice(0, textMax);
  switch (part.kind) {
    case 'text':
      return { type: 'text', content: text };
    case 'thinking':
      return { type: 'reasoning', content: text };
    case 'tool_call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: text };
    case 'tool_result':
      return { type: 'tool_call_response', id: part.id, response: text };
    default:
      return { type: 'other', content: text };
  }
}

/** Bytes of an image are too many for a span. */
function imageOf(url: string, textMax: number): object {
  const [, mime_type] = /^data:([\w/+.-]{1,64})[;,]/.exec(url) ?? [];
  return mime_type === undefined
    ? { type: 'uri', modality: 'image', uri: url.slice(0, textMax) }
    : { type: 'blob', modality: 'image', mime_type, content: '' };
}
