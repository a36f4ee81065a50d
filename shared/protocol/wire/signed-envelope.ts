// What the gateway hands out in place of what a model signed or encrypted of its thinking, where the client's interface is not the
// one of the provider: it says in itself which API and model made it, so that no other model ever gets it. It is sealed for the
// workspace that got it, and of a text with another seal nothing is parsed.
//
//   gw1 . seal . head, JSON as base64url . the provider's own text, as it came
import { createKeyedHash, equalInConstantTime } from '../../foundation/ids/index.ts';

export interface SignedEnvelope {
  /** Who can read it. */
  readonly origin: string;
  readonly model: string;
  readonly signature?: string | undefined;
  readonly encrypted?: string | undefined;
  /** Of the text that comes next: what its provider calls it. */
  readonly phase?: string | undefined;
  /**
   * The tool call that is signed, as the client has its id; `text`: the text that comes next; `text_before`: the one before it. Left out:
   * the thinking that it stands with.
   */
  readonly of?: { readonly call: string } | 'text' | 'text_before' | undefined;
}

/** Of one call. */
export interface Envelopes {
  readonly seal: (content: SignedEnvelope) => string;
  /** Undefined: it is none that this workspace got, or was changed on its way. */
  readonly open: (text: unknown) => SignedEnvelope | undefined;
}

/** The version of the form. No provider begins a signature so: base64 has no dot. */
const prefix = 'gw1.';
/** SHA-256 as base64url. */
const sealCharacters = 43;
/** Of all that is not the provider's own text. */
const headMaxCharacters = 64 * 1024 - prefix.length - sealCharacters - 2;
/** Of a request. A conversation has fewer by far, and a seal takes its time however short the text. */
const opensMax = 4_096;

/** In the head the lengths of the provider's texts take their place. */
interface Head extends Omit<SignedEnvelope, 'signature' | 'encrypted'> {
  readonly signature?: number | undefined;
  readonly encrypted?: number | undefined;
}

/** `storeKey`: all processes on a store have the same. */
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

/** Of calls that cross no formats: their clients get what a provider signed as it is. */
export const noEnvelopes: Envelopes = {
  seal: () => {
    throw new Error('this call has no envelopes');
  },
  open: () => undefined,
};

/** Cheap: a relay looks at every signature of a long conversation. */
export const isEnvelope = (text: unknown): text is string => typeof text === 'string' && text.startsWith(prefix);

/** Whether a body can hold one: most hold none, and nothing of them is then looked at. */
export const mayHoldEnvelope = (text: string): boolean => text.includes(`"${prefix}`);
