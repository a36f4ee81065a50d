// Removes from a relayed conversation the thinking that another model made for this gateway. Everything else is passed
// on unchanged.
import {
  decodeEnvelope,
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  mayHoldEncodedEnvelope,
  parseJson,
} from '../../wire/index.ts';
import type { RelayedChanges } from '../index.ts';

/**
 * Replaces the signature of a call that another model made, because models from Gemini 3 on refuse a call without one
 * (ai.google.dev/gemini-api/docs/thought-signatures, November 2026).
 */
const foreignCallSignature = 'skip_thought_signature_validator';

/** Returns no changes if no other model took part in the conversation, as is usual. */
export function withoutForeignThinking(json: JsonText): RelayedChanges {
  const contents = findMember(json, 'contents');
  if (contents === undefined || !mayHoldEncodedEnvelope(json.text)) return { changes: [], leftOut: [] };
  const read = parseJson(json.slice(contents));
  if (!Array.isArray(read)) return { changes: [], leftOut: [] };
  const leftOut: string[] = [];
  const others = read.flatMap((content: unknown, at) => {
    if (!isJsonObject(content) || !Array.isArray(content.parts)) return [content];
    const parts = content.parts.flatMap((part, place) => {
      if (!isJsonObject(part) || decodeEnvelope(part.thoughtSignature) === undefined) return [part];
      if (leftOut.length === 0) leftOut.push(`contents[${at}].parts[${place}].thoughtSignature`);
      return withoutSignature(part);
    });
    return parts.length === 0 ? [] : [{ ...content, parts }];
  });
  return leftOut.length === 0 ? { changes: [], leftOut } : { changes: [['contents', others]], leftOut };
}

function withoutSignature({ thoughtSignature: _signature, ...part }: JsonObject): object[] {
  if (part.functionCall !== undefined) return [{ ...part, thoughtSignature: foreignCallSignature }];
  return part.thought === true || part.text === '' ? [] : [part];
}
