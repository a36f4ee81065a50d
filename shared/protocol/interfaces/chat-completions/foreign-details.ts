// Thinking that the gateway handed out for a model of another format means nothing to the provider of a relayed completion, and many
// refuse members that they do not know: it stays here. What the provider may have written itself goes out as it came.
import {
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  parseJson,
  type UpstreamTarget,
} from '../../wire/index.ts';

/** `format` of what the hub writes. OpenRouter has the first two as well: at a provider like it they may be its own. */
const sharedFormats: ReadonlySet<unknown> = new Set(['anthropic-claude-v1', 'google-gemini-v1']);
const ownFormat = /^(openai-responses|chat-completions)-v1(:|$)/;

/** Members to write anew: none where nothing of the kind is in the body, as is usual. */
export function withoutForeignDetails(
  json: JsonText,
  target: Pick<UpstreamTarget, 'reasoningStyle' | 'readsGoogleSignatures'>,
): readonly (readonly [string, unknown])[] {
  const messages = json.text.includes('"reasoning_details"') ? findMember(json, 'messages') : undefined;
  if (messages === undefined) return [];
  const read = parseJson(json.slice(messages));
  if (!Array.isArray(read)) return [];
  const isForeign = ({ format }: JsonObject): boolean =>
    (typeof format === 'string' && ownFormat.test(format)) ||
    (target.reasoningStyle !== 'object' && sharedFormats.has(format));
  const written = read.map((message) => {
    const spoken = isJsonObject(message) ? withoutDetails(message, isForeign) : message;
    return spoken === message || target.readsGoogleSignatures ? spoken : withoutGoogleSignatures(spoken);
  });
  return written.some((message, index) => message !== read[index]) ? [['messages', written]] : [];
}

function withoutDetails(message: JsonObject, isForeign: (detail: JsonObject) => boolean): JsonObject {
  const { reasoning_details: details, ...rest } = message;
  if (!Array.isArray(details)) return message;
  // Pieces of a stream have one index, and the first of them says the format.
  const foreign = new Set(details.flatMap((one) => (isJsonObject(one) && isForeign(one) ? [one.index] : [])));
  if (foreign.size === 0) return message;
  const kept = details.filter((one) => !isJsonObject(one) || !foreign.has(one.index));
  if (kept.length > 0) return { ...rest, reasoning_details: kept };
  const { reasoning: _shown, ...spoken } = rest;
  return spoken;
}

/** The hub writes those of Gemini in both places. */
function withoutGoogleSignatures(message: JsonObject): JsonObject {
  const lists = ['tool_calls', 'images'].flatMap((name) => {
    const list = message[name];
    if (!Array.isArray(list) || !list.some(hasExtraContent)) return [];
    return [[name, list.map((one) => (isJsonObject(one) ? withoutExtraContent(one) : one))] as const];
  });
  return lists.length === 0 ? message : { ...message, ...Object.fromEntries(lists) };
}

const hasExtraContent = (one: unknown): boolean =>
  isJsonObject(one) && isJsonObject(one.extra_content) && one.extra_content.google !== undefined;

function withoutExtraContent({ extra_content: extra, ...rest }: JsonObject): JsonObject {
  const { google: _signature, ...others } = isJsonObject(extra) ? extra : {};
  return Object.keys(others).length === 0 ? rest : { ...rest, extra_content: others };
}
