// What the gateway hands out in place of what a model signed or encrypted of its thinking, where the client's interface is not the
// one of the provider: it says in itself which API and model made it, so that no other model ever gets it.

export interface SignedEnvelope {
  /** Who can read it. */
  readonly origin: string;
  readonly model: string;
  readonly signature?: string | undefined;
  readonly encrypted?: string | undefined;
  /** The tool call that is signed, as the client has its id; `text`: the text before. Left out: the thinking that it stands with. */
  readonly of?: { readonly call: string } | 'text' | undefined;
}

/** The version of the form. No provider begins a signature so: base64 has no dot. */
const prefix = 'gw1.';

export const sealEnvelope = (content: SignedEnvelope): string =>
  prefix + Buffer.from(JSON.stringify(content), 'utf8').toString('base64url');

/** Cheap: a relay looks at every signature of a long conversation. */
export const isEnvelope = (text: unknown): text is string => typeof text === 'string' && text.startsWith(prefix);

/** Undefined: it is none of ours, or was changed on its way. */
export function openEnvelope(text: unknown): SignedEnvelope | undefined {
  if (!isEnvelope(text)) return undefined;
  try {
    const content: unknown = JSON.parse(Buffer.from(text.slice(prefix.length), 'base64url').toString('utf8'));
    return isContent(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

function isContent(value: unknown): value is SignedEnvelope {
  if (typeof value !== 'object' || value === null) return false;
  const { origin, model } = value as Readonly<Record<string, unknown>>;
  return typeof origin === 'string' && typeof model === 'string';
}

/** Whether a body can hold one: most hold none, and nothing of them is then looked at. */
export const mayHoldEnvelope = (text: string): boolean => text.includes(`"${prefix}`);
