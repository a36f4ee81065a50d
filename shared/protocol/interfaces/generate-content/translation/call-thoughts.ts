// Sends thinking with a call. Clients of Google's interface send the signature of a call again, but many drop the parts
// with thoughts before it; a model that must get its thinking back would refuse the result. So the envelope of a call
// contains the thinking before it too.
import type { AnswerHead, OpenedEnvelope, SignedThinking } from '../../../hub/index.ts';
import { isJsonObject, parseInnerJson } from '../../../wire/index.ts';

export interface Thought extends SignedThinking {
  readonly text: string;
}

/** Maximum length of thinking that is repeated. Longer thinking is only in the parts with thoughts. */
const thoughtsMaxCharacters = 256 * 1024;

/**
 * Returns the signature of a call, which is its own signature, with the thinking before the call. Undefined if the call
 * has neither.
 */
export function sealCall(
  head: AnswerHead,
  call: string,
  signatureOfCall: SignedThinking,
  thoughts: readonly Thought[],
): string | undefined {
  const isShort = thoughts.reduce((sum, { text }) => sum + text.length, 0) <= thoughtsMaxCharacters;
  const repeated = isShort ? thoughts : [];
  if (repeated.length === 0 && signatureOfCall.signature === undefined) return undefined;
  const { origin, model } = head;
  const encrypted = repeated.length === 0 ? undefined : JSON.stringify(repeated);
  return head.seal({ origin, model, signature: signatureOfCall.signature, encrypted, of: { call } });
}

interface ReadThoughts {
  readonly thoughts: readonly (OpenedEnvelope & { readonly text: string })[];
  /** Signature of the call itself. */
  readonly signatureOfCall: OpenedEnvelope | undefined;
}

export function readThoughts(envelope: OpenedEnvelope | undefined): ReadThoughts {
  if (envelope === undefined) return { thoughts: [], signatureOfCall: undefined };
  const { encrypted, of: _of, ...rest } = envelope;
  const signatureOfCall = rest.signature === undefined ? undefined : rest;
  const read = encrypted === undefined ? undefined : parseInnerJson(encrypted)?.value;
  const thoughts = (Array.isArray(read) ? read.filter(isJsonObject) : []).map(
    ({ text, signature, encrypted: secret }) => ({
      origin: rest.origin,
      model: rest.model,
      field: rest.field,
      text: typeof text === 'string' ? text : '',
      ...(typeof signature === 'string' ? { signature } : {}),
      ...(typeof secret === 'string' ? { encrypted: secret } : {}),
    }),
  );
  return { thoughts, signatureOfCall };
}
