// `reasoning_details` of messages: what a provider signed or encrypted of its thinking, so that a client that sends an
// assistant message back lets the model go on thinking across its tool calls.
import type { LanguageModelV4ReasoningPart } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '../../../../../protocol/wire/index.ts';
import { type Signed, signedOptions } from '../../middle/index.ts';

export type ReasoningDetail = { readonly format: string; readonly index: number; readonly phase?: string } & (
  | { readonly type: 'reasoning.text'; readonly text: string; readonly signature?: string }
  | { readonly type: 'reasoning.encrypted'; readonly data: string; readonly id?: string }
);

/** Its signatures are those of texts and tool calls. */
export const googleOrigin = 'google-gemini-v1';

type SentSigned = Parameters<typeof signedOptions>[0];

export interface SentReasoning {
  /** Thinking without a signature is not sent: it would be refused. */
  readonly thoughts: readonly LanguageModelV4ReasoningPart[];
  /** By the tool call they belong to; '' is that of the text. */
  readonly signatures: ReadonlyMap<string, SentSigned>;
  /** What its provider called the text. Undefined: nothing, or more than one name for all of it. */
  readonly phase: SentSigned | undefined;
}

interface Detail {
  text: string;
  signature: string | undefined;
  data: string | undefined;
  id: string | undefined;
  format: string | undefined;
  phase: string | undefined;
}

/** What of a message that came back was signed. Encrypted data may be either where nothing says who made it. */
export function readReasoningDetails(message: JsonObject): SentReasoning {
  const details = mergeFragments(message.reasoning_details);
  const signatures = new Map<string, SentSigned>();
  for (const { id, data, format } of details) {
    if (data !== undefined && (format ?? googleOrigin) === googleOrigin) {
      signatures.set(id ?? '', signedBy(format, { signature: data }));
    }
  }
  const thoughts = isWhole(details, message.reasoning) ? details.flatMap(toThought) : [];
  return { thoughts, signatures, phase: phaseIn(details) };
}

function phaseIn(details: readonly Detail[]): SentSigned | undefined {
  const named = details.filter(({ phase }) => phase !== undefined);
  const [{ phase, format } = nothing] = named;
  if (phase === undefined || named.some((one) => one.phase !== phase)) return undefined;
  return signedBy(format, { phase });
}

function toThought({ text, signature, data, id, format }: Detail): LanguageModelV4ReasoningPart[] {
  const part = (shown: string, signed: Signed): LanguageModelV4ReasoningPart[] => [
    { type: 'reasoning', text: shown, providerOptions: signedOptions(signedBy(format, signed)) },
  ];
  if (signature !== undefined) return part(text, { signature });
  return data === undefined || id !== undefined ? [] : part('', { encrypted: data });
}

const signedBy = (origin: string | undefined, signed: Signed): SentSigned => ({
  ...signed,
  ...(origin === undefined ? {} : { origin }),
});

/**
 * OpenAI's SDK for Node keeps the last piece of a stream's details, which is a signature without its text, and the last one of
 * `reasoning`: sent on, it would be refused. Thinking whose text is not shown has no `reasoning`.
 */
const isWhole = (details: readonly Detail[], reasoning: unknown): boolean =>
  typeof reasoning !== 'string' || details.reduce((length, { text }) => length + text.length, 0) >= reasoning.length;

/** A client that kept the chunks of a stream sends the pieces of one detail, which have one index; the first says its format. */
function mergeFragments(details: unknown): Detail[] {
  const merged = new Map<unknown, Detail>();
  for (const [place, one] of (Array.isArray(details) ? details : []).entries()) {
    if (!isJsonObject(one)) continue;
    const key = `${typeof one.type === 'string' ? one.type : ''} ${typeof one.index === 'number' ? one.index : `at ${place}`}`;
    const known = merged.get(key) ?? { ...nothing };
    if (typeof one.text === 'string') known.text += one.text;
    if (typeof one.signature === 'string') known.signature = one.signature;
    if (typeof one.data === 'string') known.data = (known.data ?? '') + one.data;
    if (typeof one.id === 'string') known.id = one.id;
    if (typeof one.format === 'string') known.format = one.format;
    if (typeof one.phase === 'string') known.phase = one.phase;
    merged.set(key, known);
  }
  return [...merged.values()];
}

const nothing: Detail = {
  text: '',
  signature: undefined,
  data: undefined,
  id: undefined,
  format: undefined,
  phase: undefined,
};
