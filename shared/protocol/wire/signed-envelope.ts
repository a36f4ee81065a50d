// Makes and opens the envelopes that replace a model's signed or encrypted thinking if the client's interface differs
// from the provider's interface. Each envelope names the API and model that made it, so that no other model ever gets
// the thinking, and is sealed for its workspace; the text of an envelope with another seal is not parsed.
//
//   gw1 . seal . head, JSON as base64url . the provider's own text, unchanged
import { createKeyedHash, equalInConstantTime } from '../../foundation/ids/index.ts';

export interface SignedEnvelope {
  /** The group of models that can read it. */
  readonly origin: string;
  readonly model: string;
  readonly signature?: string | undefined;
  readonly encrypted?: string | undefined;
  /** The provider's phase of the next text. */
  readonly phase?: string | undefined;
  /**
   * The signed item: a tool call, by the client's id; `text`, the next text; `text_before`, the previous one. If
   * absent, the thinking next to it.
   */
  readonly of?: { readonly call: string } | 'text' | 'text_before' | undefined;
}

/** Envelopes of one call. */
export interface Envelopes {
  readonly seal: (content: SignedEnvelope) => string;
  /** Opens an envelope. Returns undefined for a text that this workspace did not get, or that was changed since. */
  readonly open: (text: unknown) => SignedEnvelope | undefined;
}

/** The version of the format. No provider's signature begins with it, because base64 has no dot. */
const prefix = 'gw1.';
/** Length of a SHA-256 as base64url. */
const sealCharacters = 43;
/** Bound of everything except the provider's own text. */
const headMaxCharacters = 64 * 1024 - prefix.length - sealCharacters - 2;
/**
 * Maximum number of envelopes that are opened for one request. A conversation has far fewer, and each seal takes time
 * however short the text.
 */
const opensMax = 4_096;

/** The head, in which lengths replace the provider's texts. */
interface Head extends Omit<SignedEnvelope, 'signature' | 'encrypted'> {
  readonly signature?: number | undefined;
  readonly encrypted?: number | undefined;
}

/** Creates the envelopes of a workspace. `storeKey` is the same for all processes on a store. */
export function createEnvelopes(storeKey: Uint8Array, workspace: string): Envelopes {
  const sealOf = createKeyedHash(createKeyedHash(storeKey)(`thinking of ${workspace}`));
  let opened = 0;
  return {
    seal({ signature, encrypted, ...content }) {
      const lengths: Head = { ...content, signature: signature?.length, encrypted: encrypted?.length };
      const head = Buffer.from(JSON.stringify(lengths), 'utf8').toString('base64url');
      if (head.length > headMaxCharacters) throw new Error('an envelope of thinking with a head that is too long');
      const sealed = `${head}.${signature ?? ''}${encrypted ?? ''}`;
      return `${prefix}${sealOf(sealed)}.${sealed}`;
    },
    open(text) {
      if (!isEnvelope(text) || opened === opensMax) return undefined;
      opened += 1;
      const sealEnd = prefix.length + sealCharacters;
      const sealed = text.slice(sealEnd + 1);
      if (text[sealEnd] !== '.' || !equalInConstantTime(text.slice(prefix.length, sealEnd), sealOf(sealed))) {
        return undefined;
      }
      const headEnd = sealed.indexOf('.');
      const head = JSON.parse(Buffer.from(sealed.slice(0, headEnd), 'base64url').toString('utf8')) as Head;
      const ownEnd = headEnd + 1 + (head.signature ?? 0);
      return {
        ...head,
        signature: head.signature === undefined ? undefined : sealed.slice(headEnd + 1, ownEnd),
        encrypted: head.encrypted === undefined ? undefined : sealed.slice(ownEnd),
      };
    },
  };
}

/** Envelopes for calls within one format, whose clients get a provider's signatures unchanged. */
export const noEnvelopes: Envelopes = {
  seal: () => {
    throw new Error('this call has no envelopes');
  },
  open: () => undefined,
};

/** True for an envelope. The test is cheap, because a relay applies it to every signature of a long conversation. */
export const isEnvelope = (text: unknown): text is string => typeof text === 'string' && text.startsWith(prefix);

/**
 * Replaces the signature of a text that a guardrail changed. The replacement cannot be opened, so the thinking is sent
 * to no model again, like thinking of another workspace.
 */
export const brokenSignature = `${prefix}masked`;

// Encodes envelopes for Google's interface, whose signatures are bytes. Google's SDK for Python decodes them, and
// writes them again in base64's other alphabet. An envelope in that interface is therefore base64.

export const encodeEnvelope = (envelope: string): string => Buffer.from(envelope, 'utf8').toString('base64');

/** Returns undefined for any other signature. */
export function decodeEnvelope(signature: unknown): string | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(encodedPrefix)) return undefined;
  const text = Buffer.from(signature, 'base64').toString('utf8');
  return isEnvelope(text) ? text : undefined;
}

/** Prefix in base64 by which other signatures are ruled out quickly. */
const encodedPrefix = 'Z3cxL';

export const mayHoldEncodedEnvelope = (text: string): boolean => text.includes(`"${encodedPrefix}`);

/** True if a body can contain an envelope. Most bodies cannot, and are not searched further. */
export const mayHoldEnvelope = (text: string): boolean => text.includes(`"${prefix}`);
