// `reasoning_details` of messages: what a provider signed or encrypted of its thinking, so that a client that sends an
// assistant message back lets the model go on thinking across its tool calls.
import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject } from '../../../protocol/wire/index.ts';
import type { TranslatedApi } from './translated-api.ts';

export type ReasoningDetail = { readonly format: string; readonly index: number } & (
  | { readonly type: 'reasoning.text'; readonly text: string; readonly signature?: string }
  | { readonly type: 'reasoning.encrypted'; readonly data: string; readonly id?: string }
);

/** Who can read a signature: what Claude signs on one platform it takes on another. */
export const reasoningFormats: Readonly<Record<TranslatedApi, string>> = {
  messages: 'anthropic-claude-v1',
  converse: 'anthropic-claude-v1',
  'generate-content': 'google-gemini-v1',
};

export interface Signed {
  /** Of the thinking that it comes with. */
  readonly signature?: string;
  /** Thinking that is encrypted as a whole. */
  readonly encrypted?: string;
}

/** What a package says of a part: each has its own name for the same. */
export function readSigned(metadata: SharedV4ProviderMetadata | undefined): Signed {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  const { anthropic = {}, amazonBedrock = {}, google = {} } = metadata ?? {};
  const signature = text(anthropic.signature) ?? text(amazonBedrock.signature) ?? text(google.thoughtSignature);
  const encrypted =
    text(anthropic.redactedData) ?? text(amazonBedrock.redactedContent) ?? text(amazonBedrock.redactedData);
  return { ...(signature === undefined ? {} : { signature }), ...(encrypted === undefined ? {} : { encrypted }) };
}

export interface SentReasoning {
  readonly parts: readonly LanguageModelV4ReasoningPart[];
  /** Gemini's signatures by the tool call they belong to; '' is that of the text. */
  readonly signatures: ReadonlyMap<string, string>;
}

interface Detail {
  text: string;
  signature: string | undefined;
  data: string | undefined;
  id: string | undefined;
  format: string | undefined;
}

/** What of a message that came back the target can read. Thinking without a signature is not sent: it would be refused. */
export function readReasoningDetails(message: Readonly<Record<string, unknown>>, api: TranslatedApi): SentReasoning {
  const format = reasoningFormats[api];
  const details = mergeFragments(message.reasoning_details).filter((detail) => (detail.format ?? format) === format);
  const signatures = new Map<string, string>();
  if (api === 'generate-content') {
    for (const { id, data } of details) if (data !== undefined) signatures.set(id ?? '', data);
  }
  return { parts: isWhole(details, message.reasoning) ? details.flatMap((one) => toPart(one, api)) : [], signatures };
}

function toPart({ text, signature, data, id }: Detail, api: TranslatedApi): LanguageModelV4ReasoningPart[] {
  if (signature !== undefined) return [{ type: 'reasoning', text, providerOptions: signedOptions(signature) }];
  if (api === 'generate-content' || data === undefined || id !== undefined) return [];
  return [{ type: 'reasoning', text: '', providerOptions: encryptedOptions(data) }];
}

/**
 * OpenAI's SDK for Node keeps the last piece of a stream's details, which is a signature without its text, and the last one of
 * `reasoning`: sent on, it would be refused. Thinking whose text is not shown has no `reasoning`.
 */
const isWhole = (details: readonly Detail[], reasoning: unknown): boolean =>
  typeof reasoning !== 'string' || details.reduce((length, { text }) => length + text.length, 0) >= reasoning.length;

const signedOptions = (signature: string) => ({
  anthropic: { signature },
  amazonBedrock: { signature },
  google: { thoughtSignature: signature },
});
const encryptedOptions = (data: string) => ({
  anthropic: { redactedData: data },
  amazonBedrock: { redactedContent: data },
});

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
    merged.set(key, known);
  }
  return [...merged.values()];
}

const nothing: Detail = { text: '', signature: undefined, data: undefined, id: undefined, format: undefined };
