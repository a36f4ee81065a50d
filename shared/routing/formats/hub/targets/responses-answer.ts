// Converts a whole answer of Responses for its package, to the model's text, thinking and calls. Hosts add other items,
// for which the package would refuse the whole answer.
import {
  findMember,
  isBrokenEnd,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type JsonText,
  replaceValues,
  scanJson,
} from '../../../../protocol/wire/index.ts';
import { listPieces, longCharacters } from './answer-pieces.ts';
import { parsedObject } from './body-members.ts';
import { readableOpenAiUsage, responseUsage } from './openai-usage.ts';

/** Id prefix of a message that is a refusal, because its package does not distinguish a refusal from text. */
export const refusalIdPrefix = 'refusal_';

export function readableResponse(text: string): object | string {
  const answer = parsedObject(text);
  // No package accepts the text `null` as an answer.
  if (!Array.isArray(answer?.output)) return 'null';
  const { id, created_at: created, model, usage } = answer;
  return {
    id: textOr(id, undefined),
    created_at: typeof created === 'number' ? created : 0,
    model: textOr(model, undefined),
    incomplete_details: readableIncomplete(answer),
    usage: readableOpenAiUsage(usage, responseUsage),
    output: answer.output.filter(isJsonObject).flatMap(readableItem),
  };
}

/** Yields pieces of a corrected text, each with all fields besides the output. */
export function* outputPieces(text: string): Generator<string> {
  const json = text.length > longCharacters ? readableJson(text) : undefined;
  const list = json && findMember(json, 'output');
  const pieces = json === undefined || list === undefined ? [] : [...listPieces(json, list)];
  if (json === undefined || list === undefined || pieces.length === 0) yield text;
  else for (const piece of pieces) yield replaceValues(json, [[list, piece.text]]);
}

/**
 * Maximum nesting, which is a little more than in the provider's answer. There may be more values, because each part
 * has become a message.
 */
const readableDepthMax = 1_024;

function readableJson(text: string): JsonText | undefined {
  const scanned = scanJson(text, { depthMax: readableDepthMax });
  return scanned.kind === 'json' ? scanned.json : undefined;
}

/**
 * Returns the package's reason of an incomplete answer, which may mean that something broke. Without a reason it was
 * truncated.
 */
export function readableIncomplete(
  { status, incomplete_details: details }: JsonObject,
  isIncomplete = status === 'incomplete',
): JsonObject | null {
  if (isBrokenEnd(status)) return { reason: status };
  if (isJsonObject(details) && isEndWord(details.reason)) return { reason: details.reason };
  return isIncomplete ? { reason: 'max_output_tokens' } : null;
}

export const textOr = <Other>(value: unknown, other: Other): string | Other =>
  typeof value === 'string' ? value : other;

/** Drops items that a provider ran itself, which the client cannot run, and items that the package does not know. */
function readableItem(item: JsonObject): JsonObject[] {
  if (item.type === 'message') return readableMessages(item);
  if (item.type === 'reasoning') return [readableReasoning(item)];
  const { type, call_id: callId, name, arguments: text } = item;
  if (type !== 'function_call' || typeof name !== 'string') return [];
  const id = textOr(callId, textOr(item.id, ''));
  return [{ type, id: textOr(item.id, id), call_id: id, name, arguments: textOr(text, '{}') }];
}

/** Returns the progress of an answer, as OpenAI's newer models report it; its package refuses any other value. */
export const phaseIn = ({ phase }: JsonObject): JsonObject =>
  phase === 'commentary' || phase === 'final_answer' ? { phase } : {};

function readableMessages({ id, content, ...message }: JsonObject): JsonObject[] {
  const parts = (Array.isArray(content) ? content : []).filter(isJsonObject);
  const itemId = textOr(id, 'msg');
  return parts.flatMap((part) => {
    const text = textOr(part.text, part.refusal);
    if (typeof text !== 'string') return [];
    const isRefusal = part.type === 'refusal';
    return [
      {
        type: 'message',
        role: 'assistant',
        id: isRefusal ? refusalIdPrefix + itemId : itemId,
        ...phaseIn(message),
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ];
  });
}

/** Converts reasoning. Models that show all of their thinking have no summary. */
function readableReasoning({ id, summary, content, encrypted_content: encrypted }: JsonObject): JsonObject {
  const textsOf = (list: unknown) =>
    (Array.isArray(list) ? list : [])
      .filter(isJsonObject)
      .flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const shown = textsOf(summary);
  return {
    type: 'reasoning',
    id: textOr(id, 'rs'),
    encrypted_content: textOr(encrypted, null),
    summary: (shown.length > 0 ? shown : textsOf(content)).map((text) => ({ type: 'summary_text', text })),
  };
}
