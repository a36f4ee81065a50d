// Removes from a relayed completion the thinking that the gateway returned for a model of another format, because it
// means nothing to this provider, and many providers refuse unknown fields. Thinking that the provider may have written
// itself is passed on unchanged.
import {
  findMember,
  isEnvelope,
  isJsonObject,
  type JsonObject,
  type JsonText,
  mayHoldEnvelope,
  parseJson,
  type UpstreamTarget,
} from '../../wire/index.ts';
import type { RelayedChanges } from '../index.ts';

/**
 * Values of `format` that the hub writes. OpenRouter uses the first two as well, so at a provider like OpenRouter they
 * may be the provider's own values.
 */
const sharedFormats: ReadonlySet<unknown> = new Set(['anthropic-claude-v1', 'google-gemini-v1']);
const ownFormat = /^(openai-responses|chat-completions)-v1(:|$)/;

type Target = Pick<UpstreamTarget, 'reasoningStyle' | 'readsGoogleSignatures'>;

/** Returns no changes if the body has no foreign thinking, as is usual. */
export function withoutForeignDetails(json: JsonText, target: Target): RelayedChanges {
  const mayHoldSome = json.text.includes('"reasoning_details"') || mayHoldEnvelope(json.text);
  const messages = mayHoldSome ? findMember(json, 'messages') : undefined;
  const read = messages === undefined ? undefined : parseJson(json.slice(messages));
  if (!Array.isArray(read)) return { changes: [], leftOut: [] };
  const leftOut: string[] = [];
  const written = read.map((message, at) => {
    if (!isJsonObject(message)) return message;
    const plain = withoutDetails(message, target);
    const unsigned = withoutGoogleSignatures(plain, target);
    if (plain !== message) leftOut.push(`messages[${at}].reasoning_details`);
    else if (unsigned !== plain) leftOut.push(`messages[${at}].extra_content`);
    return unsigned;
  });
  return leftOut.length === 0
    ? { changes: [], leftOut }
    : { changes: [['messages', written]], leftOut: leftOut.slice(0, 1) };
}

function withoutDetails(message: JsonObject, target: Target): JsonObject {
  const { reasoning_details: details, ...rest } = message;
  if (!Array.isArray(details)) return message;
  // Pieces of a stream have the same index, and the first piece states the format.
  const foreign = new Set(details.flatMap((one) => (isJsonObject(one) && isForeign(one, target) ? [one.index] : [])));
  if (foreign.size === 0) return message;
  const nativeDetails = details.filter((one) => !isJsonObject(one) || !foreign.has(one.index));
  if (nativeDetails.length > 0) return { ...rest, reasoning_details: nativeDetails };
  const { reasoning: _shown, ...plain } = rest;
  return plain;
}

const isForeign = ({ format, signature, data }: JsonObject, { reasoningStyle }: Target): boolean =>
  isEnvelope(signature) ||
  isEnvelope(data) ||
  (typeof format === 'string' && ownFormat.test(format)) ||
  (reasoningStyle !== 'object' && sharedFormats.has(format));

/**
 * Removes Gemini's signatures, which the hub writes in both places. Google's own host reads the signatures that it
 * wrote itself.
 */
function withoutGoogleSignatures(message: JsonObject, { readsGoogleSignatures }: Target): JsonObject {
  const isLeftOut = (one: unknown): one is JsonObject => {
    const google = isJsonObject(one) && isJsonObject(one.extra_content) ? one.extra_content.google : undefined;
    return (
      google !== undefined && (!readsGoogleSignatures || (isJsonObject(google) && isEnvelope(google.thought_signature)))
    );
  };
  const lists = ['tool_calls', 'images'].flatMap((name) => {
    const list = message[name];
    if (!Array.isArray(list) || !list.some(isLeftOut)) return [];
    return [[name, list.map((one) => (isLeftOut(one) ? withoutExtraContent(one) : one))] as const];
  });
  return lists.length === 0 ? message : { ...message, ...Object.fromEntries(lists) };
}

function withoutExtraContent({ extra_content: extra, ...rest }: JsonObject): JsonObject {
  const { google: _signature, ...others } = isJsonObject(extra) ? extra : {};
  return Object.keys(others).length === 0 ? rest : { ...rest, extra_content: others };
}
